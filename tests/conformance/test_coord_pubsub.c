/* Publish/subscribe over each adapter. */
#include "coord_scene.h"

static const struct scene_adapter *adapter;

enum { MESSAGES = 1000 };
struct ear {
    int gaps, messages, next;
    struct coord_subscription *subscription;
    int leave_after; /* unsubscribes itself in the callback; 0: never */
};

static void hear(void *context, struct str message)
{
    struct ear *ear = context;
    int64_t number = -1;
    CHECK(str_to_int64(message, &number) && number == ear->next);
    ear->next++;
    if (++ear->messages == ear->leave_after)
        coord_unsubscribe(ear->subscription);
}

static void hear_gap(void *context)
{
    struct ear *ear = context;
    CHECK(ear->messages == 0);
    ear->gaps++;
}

static bool has_gap(void *ear)
{
    return ((struct ear *)ear)->gaps > 0;
}

static bool has_all(void *ear)
{
    return ((struct ear *)ear)->messages >= MESSAGES;
}

static void listen_with(struct coord *coord, struct ear *ear, const char *channel)
{
    ear->subscription = coord_subscribe(coord, str_from(channel), (struct coord_subscriber){hear, hear_gap, ear});
    CHECK(ear->subscription);
    CHECK(scene_until(has_gap, ear, 3000)); /* from now on it hears everything */
}

static void publish_all(struct coord *coord, const char *channel)
{
    for (int i = 0; i < MESSAGES; i++) {
        char text[16];
        snprintf(text, sizeof(text), "%d", i);
        CHECK_OUTCOME(coord_publish(coord, str_from(channel), str_from(text)), COORD_OK);
    }
}

static atomic_int listening;

static bool other_listens(void *arg)
{
    (void)arg;
    return atomic_load(&listening) == 2;
}

static void publishes(struct coord *coord, void *arg, size_t n)
{
    struct ear stays = {0}, leaves = {.leave_after = 10}, elsewhere = {0};
    const char *other = n == 0 ? "other" : "another";
    (void)arg;
    listen_with(coord, &stays, "news");
    listen_with(coord, &leaves, "news");
    listen_with(coord, &elsewhere, other);
    atomic_fetch_add(&listening, 1);
    CHECK(scene_until(other_listens, NULL, 5000));
    if (n == 0)
        publish_all(coord, "news");
    CHECK(scene_until(has_all, &stays, 5000));
    CHECK(stays.messages == MESSAGES && stays.gaps == 1);
    CHECK(leaves.messages == 10);
    CHECK(elsewhere.messages == 0);
    coord_unsubscribe(stays.subscription);
    coord_unsubscribe(elsewhere.subscription);
    CHECK_OUTCOME(coord_publish(coord, str_from(other), STR("0")), COORD_OK);
    task_sleep(20);
    CHECK(elsewhere.messages == 0);

    struct ear again = {0}; /* unsubscribed and at once subscribed again; its end is left to coord_close_loop */
    listen_with(coord, &elsewhere, other);
    coord_unsubscribe(elsewhere.subscription);
    listen_with(coord, &again, other);
    publish_all(coord, other);
    CHECK(scene_until(has_all, &again, 5000));
}

static void test_messages_arrive_in_order_on_every_loop(void **state)
{
    adapter = *state;
    atomic_store(&listening, 0);
    scene_run(adapter, 2, publishes, NULL);
}

/* A subscriber that does not keep up loses messages, is told so, and hears what comes after. */
enum { FLOOD = 20000 };
struct slow_ear {
    int gaps;
    int64_t last;
    int messages;
};

static void hear_slowly(void *context, struct str message)
{
    struct slow_ear *ear = context;
    int64_t number = -1;
    CHECK(str_to_int64(message, &number) && number > ear->last);
    ear->last = number;
    ear->messages++;
}

static void hear_slow_gap(void *context)
{
    ((struct slow_ear *)context)->gaps++;
}

static bool slow_has_gap(void *ear)
{
    return ((struct slow_ear *)ear)->gaps > 0;
}

static bool slow_has_two_gaps(void *ear)
{
    return ((struct slow_ear *)ear)->gaps > 1;
}

static bool slow_has_last(void *ear)
{
    return ((struct slow_ear *)ear)->last == FLOOD;
}

static void floods(struct coord *coord, void *arg, size_t n)
{
    struct slow_ear ear = {.last = -1};
    char text[16];
    (void)arg, (void)n;
    struct coord_subscription *subscription =
        coord_subscribe(coord, STR("flood"), (struct coord_subscriber){hear_slowly, hear_slow_gap, &ear});
    CHECK(scene_until(slow_has_gap, &ear, 3000));
    for (int i = 0; i < FLOOD; i++) { /* this task never waits here, so its loop cannot deliver */
        snprintf(text, sizeof(text), "%d", i);
        CHECK_OUTCOME(coord_publish(coord, STR("flood"), str_from(text)), COORD_OK);
    }
    CHECK(scene_until(slow_has_two_gaps, &ear, 3000));
    CHECK(ear.messages > 0 && ear.messages < FLOOD);
    snprintf(text, sizeof(text), "%d", FLOOD);
    CHECK_OUTCOME(coord_publish(coord, STR("flood"), str_from(text)), COORD_OK);
    CHECK(scene_until(slow_has_last, &ear, 3000));
    coord_unsubscribe(subscription);
}

static void test_a_flood_is_bounded(void **state)
{
    adapter = *state;
    scene_run(adapter, 1, floods, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE_ON_BOTH(test_messages_arrive_in_order_on_every_loop),
        {"local: test_a_flood_is_bounded", test_a_flood_is_bounded, NULL, NULL, &scene_adapters[0]},
    };
    return cmocka_run_group_tests_name("coord publish/subscribe", tests, scene_start, scene_stop);
}
