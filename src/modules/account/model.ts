/** Schemas that the parts of the account share. */
import { type Static, Type } from '@sinclair/typebox';
import { Id, Input, OneTimeCode, Timestamp } from '../../http/schemas.ts';

export const CodeAsked = Type.Object({ challengeId: Id('chl'), expiresAt: Timestamp() });
export type CodeAsked = Static<typeof CodeAsked>;

export const CodeGiven = Input({
  challengeId: Type.String({ minLength: 1, maxLength: 100, remedy: 'Give the challengeId that you were answered.' }),
  code: OneTimeCode(),
});
export type CodeGiven = Static<typeof CodeGiven>;

export const Proved = Type.Object({
  freshUntil: Timestamp({ description: 'Until then sensitive changes are accepted in this session.' }),
});
