import { PICTURE_TYPES } from './inspect.ts';

/** Limits of every uploaded picture. */
export const UPLOAD = { maxBytes: 10 * 1024 * 1024, mediaTypes: PICTURE_TYPES };
