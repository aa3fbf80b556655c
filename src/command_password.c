#include "command_password.h"

#include "services/auth/password.h"

#include <stdio.h>
#include <termios.h>
#include <unistd.h>

/* Without the end of the line. False: there is none, or it is too long. */
static bool read_line(char out[COMMAND_PASSWORD_SIZE])
{
    if (!fgets(out, COMMAND_PASSWORD_SIZE, stdin))
        return false;
    size_t length = strcspn(out, "\r\n");
    bool whole = out[length] != '\0' || feof(stdin);
    out[length] = '\0';
    return whole;
}

static bool read_hidden(const char *question, char out[COMMAND_PASSWORD_SIZE])
{
    struct termios shown, hidden;
    if (tcgetattr(STDIN_FILENO, &shown) != 0)
        return false;
    hidden = shown;
    hidden.c_lflag &= ~(tcflag_t)ECHO;
    if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) != 0)
        return false;
    fputs(question, stderr); /* after what was typed before it has been thrown away */
    bool read = read_line(out);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
    fputc('\n', stderr);
    return read;
}

static bool ask_twice(char password[COMMAND_PASSWORD_SIZE])
{
    char again[COMMAND_PASSWORD_SIZE] = "";
    bool read = read_hidden("Password: ", password) && read_hidden("The same again: ", again);
    bool same = read && strcmp(password, again) == 0;
    explicit_bzero(again, sizeof(again));
    if (read && !same)
        fputs("tickettock: the two are not the same; nothing was done.\n", stderr);
    else if (!read)
        fputs("tickettock: no password, nothing done.\n", stderr);
    return same;
}

static bool is_good(const char *password)
{
    size_t length = strlen(password);
    if (length >= PASSWORD_MIN && length <= PASSWORD_MAX && str_is_utf8(str_from(password)))
        return true;
    fprintf(stderr, "tickettock: a password has %d to %d bytes; nothing was done.\n", PASSWORD_MIN, PASSWORD_MAX);
    return false;
}

bool command_ask_password(char password[COMMAND_PASSWORD_SIZE])
{
    if (isatty(STDIN_FILENO))
        return ask_twice(password) && is_good(password);
    if (read_line(password))
        return is_good(password);
    fputs("tickettock: the standard input has no line with a password; nothing was done.\n", stderr);
    return false;
}
