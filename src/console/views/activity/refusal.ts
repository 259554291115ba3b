import { addresses } from '../../address.ts';
import { api, ask } from '../../api.ts';
import type { AuthEvent } from './kinds.ts';

/** Returns whether a record is a sign-in that was refused, of somebody whom the users' view can explain. */
export function isExplained({ kind, ok, applicationId, email, userId }: AuthEvent): boolean {
  return !ok && kind.startsWith('signin.') && applicationId !== null && (email !== null || userId !== null);
}

/** Returns the address that explains a refusal: of a user of the application, else of the e-mail address. */
export async function explanationOf({ applicationId, email, userId }: AuthEvent): Promise<string> {
  const id = applicationId ?? '';
  const asAddress = `${addresses.application(id, 'users')}?${new URLSearchParams({ q: email ?? '', why: email ?? '' })}`;
  if (userId === null) return asAddress;
  const user = await ask(api.GET('/api/applications/{id}/users/{userId}', { params: { path: { id, userId } } }));
  return user.ok || email === null ? addresses.application(id, 'users', userId) : asAddress;
}
