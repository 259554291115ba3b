import { type Static, Type } from '@sinclair/typebox';
import { Choice, Id, Input, OneTimeCode, Timestamp } from '../../http/schemas.ts';

const LIFECYCLE_KINDS = ['archive', 'delete', 'hide_now'] as const;
export type LifecycleKind = (typeof LIFECYCLE_KINDS)[number];

export const LifecycleSendInput = Input({
  kind: Choice(LIFECYCLE_KINDS, { $id: 'LifecycleKind' }),
  skipGrace: Type.Optional(
    Type.Boolean({
      description: 'With `delete`: hides it from the lists at once instead of after 90 days, like `hide_now` later.',
      remedy: 'Give true or false.',
    }),
  ),
});
export type LifecycleSendInput = Static<typeof LifecycleSendInput>;

export const LifecycleSent = Type.Object({ challengeId: Id('chl'), expiresAt: Timestamp() });
export type LifecycleSent = Static<typeof LifecycleSent>;

export const LifecycleConfirmInput = Input({
  challengeId: Type.String({ minLength: 1, maxLength: 100, remedy: 'Give the challengeId that send answered.' }),
  code: OneTimeCode(),
});
export type LifecycleConfirmInput = Static<typeof LifecycleConfirmInput>;
