import { Type } from '@sinclair/typebox';

export const SignedOut = Type.Object({ ok: Type.Literal(true) });
