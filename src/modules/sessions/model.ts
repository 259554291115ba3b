/** Schemas of sign-out. */
import { Type } from '@sinclair/typebox';

export const SignedOut = Type.Object({ ok: Type.Literal(true) });
