/** The console: the system application that workspace members sign in to, by the same flows as anyone. */
export const CONSOLE_CLIENT_ID = 'console';
