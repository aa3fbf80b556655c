#include "task/context.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define WITH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#elif __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#endif
#endif

#ifdef WITH_ASAN
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef WITH_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#ifdef HAVE_VALGRIND
#include <valgrind/valgrind.h>
#endif

/* Sanitizers put red zones around every local, so frames are larger there. */
#if defined(WITH_ASAN) || defined(WITH_TSAN)
enum { STACK_BYTES = 512 * 1024 };
#else
enum { STACK_BYTES = 128 * 1024 };
#endif

/* A switch saves what a called function must preserve and exchanges the stack
 * pointer. Everything else is the compiler's business, as with any call. */
#if defined(__x86_64__) && !defined(TASK_UCONTEXT)

void context_swap(void **save, void *load);
__asm__(".text\n"
        ".globl context_swap\n"
        ".hidden context_swap\n"
        ".type context_swap,@function\n"
        "context_swap:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size context_swap,.-context_swap\n");

static void first_entry(void);

static void prepare(struct context *context)
{
    enum { SAVED_REGISTERS = 6 };
    uintptr_t top = ((uintptr_t)context->stack + context->stack_size) & ~(uintptr_t)15;
    void **slot = (void **)top;
    *--slot = NULL; /* where a return address would stand: keeps the ABI's alignment and ends back traces */
    *--slot = (void *)first_entry;
    for (int i = 0; i < SAVED_REGISTERS; i++)
        *--slot = NULL;
    context->stack_pointer = slot;
}

static void release(struct context *context)
{
    (void)context;
}

static void swap(struct context *from, struct context *to)
{
    context_swap(&from->stack_pointer, to->stack_pointer);
}

#else /* other machines: slower, since swapcontext also saves the signal mask with a system call */

#include <stdlib.h>
#include <ucontext.h>

static void first_entry(void);

static void prepare(struct context *context)
{
    ucontext_t *saved = malloc(sizeof(*saved));
    if (!saved)
        abort();
    getcontext(saved);
    saved->uc_stack.ss_sp = context->stack;
    saved->uc_stack.ss_size = context->stack_size;
    saved->uc_link = NULL;
    makecontext(saved, first_entry, 0);
    context->stack_pointer = saved;
}

static void release(struct context *context)
{
    free(context->stack_pointer);
}

static void swap(struct context *from, struct context *to)
{
    if (!from->stack_pointer && !(from->stack_pointer = malloc(sizeof(ucontext_t))))
        abort();
    swapcontext(from->stack_pointer, to->stack_pointer);
}

#endif

/* Set just before a switch, so that a new context can find itself. */
static _Thread_local struct context *switching_to;

static void switch_arrived(struct context *self)
{
#ifdef WITH_ASAN
    __sanitizer_finish_switch_fiber(self->sanitizer, NULL, NULL);
#endif
    (void)self;
}

static void first_entry(void)
{
    struct context *self = switching_to;
    switch_arrived(self);
    self->entry(self->argument);
    __builtin_trap(); /* entry must never return */
}

#ifdef WITH_ASAN
static void thread_stack_bounds(const void **bottom, size_t *size)
{
    static _Thread_local void *stack;
    static _Thread_local size_t stack_size;
    if (!stack) {
        pthread_attr_t attributes;
        if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
            pthread_attr_getstack(&attributes, &stack, &stack_size);
            pthread_attr_destroy(&attributes);
        }
    }
    *bottom = stack;
    *size = stack_size;
}
#endif

void context_switch(struct context *from, struct context *to)
{
    switching_to = to;
#ifdef WITH_ASAN
    const void *bottom = to->stack;
    size_t size = to->stack_size;
    if (!bottom)
        thread_stack_bounds(&bottom, &size);
    __sanitizer_start_switch_fiber(&from->sanitizer, bottom, size);
#endif
#ifdef WITH_TSAN
    __tsan_switch_to_fiber(to->sanitizer, 0);
#endif
    swap(from, to);
    switch_arrived(from);
}

void context_of_thread(struct context *context)
{
    *context = (struct context){0};
#ifdef WITH_TSAN
    context->sanitizer = __tsan_get_current_fiber();
#endif
}

bool context_create(struct context *context, void (*entry)(void *), void *argument)
{
    *context = (struct context){.entry = entry, .argument = argument};
    size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    char *mapping = mmap(NULL, guard + STACK_BYTES, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapping == MAP_FAILED)
        return false;
    if (mprotect(mapping, guard, PROT_NONE) != 0) {
        munmap(mapping, guard + STACK_BYTES);
        return false;
    }
    context->stack = mapping + guard;
    context->stack_size = STACK_BYTES;
#ifdef WITH_TSAN
    context->sanitizer = __tsan_create_fiber(0);
#endif
#ifdef HAVE_VALGRIND
    context->valgrind_id = VALGRIND_STACK_REGISTER(context->stack, (char *)context->stack + STACK_BYTES);
#endif
    prepare(context);
    return true;
}

void context_destroy(struct context *context)
{
#ifdef WITH_ASAN
    /* Frames that were left and not returned from have red zones still. The next one who gets this address, SQLite's
     * shared memory say, must not be taken for them. */
    ASAN_UNPOISON_MEMORY_REGION(context->stack, context->stack_size);
#endif
#ifdef WITH_TSAN
    __tsan_destroy_fiber(context->sanitizer);
#endif
#ifdef HAVE_VALGRIND
    VALGRIND_STACK_DEREGISTER(context->valgrind_id);
#endif
    release(context);
    size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    munmap((char *)context->stack - guard, guard + context->stack_size);
}
