import { type Static, Type } from '@sinclair/typebox';
import { Email, Id, Input } from '../../http/schemas.ts';
import { SignedIn, TimezoneOfBrowser } from '../sign-in/model.ts';

export const SetupInput = Input({
  token: Type.String({ minLength: 1, maxLength: 200, remedy: 'Give the token of the setup link.' }),
  email: Email(),
  timezone: TimezoneOfBrowser(),
});
export type SetupInput = Static<typeof SetupInput>;

export const SetupDone = Type.Intersect([SignedIn, Type.Object({ workspaceId: Id('wsp') })]);
export type SetupDone = Static<typeof SetupDone>;
