/** Path of the link by which the holder of the old address undoes an account's change of address. */
export const UNDO_PATH = '/undo-email-change';
