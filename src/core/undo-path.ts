/** Where the link leads by which the holder of an address undoes that an account was moved to another one. */
export const UNDO_PATH = '/undo-email-change';
