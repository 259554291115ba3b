/** The console: the system application that workspace members sign in to, by the same flows as anyone. */
export const CONSOLE_CLIENT_ID = 'console';

/** The OAuth client of `gatehouse login` in a browser; it is built in, so no row describes it. */
export const COMMAND_LINE_CLIENT_ID = 'gatehouse-cli';
