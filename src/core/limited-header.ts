/** Header of a refusal by a limit of the client address, which hosted pages do not blame on the reader: `network`. */
export const LIMITED_HEADER = 'gatehouse-limited';
