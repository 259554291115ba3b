import { type Outcome, post } from '../browser/api.ts';
import type { SignInData } from './offer.ts';

export type AccessKind = 'request' | 'notify';

/** Requests access, or a mail at the opening. The answer is the same for every address. */
export function postRequest(
  { application, locale }: SignInData,
  kind: AccessKind,
  email: string,
): Promise<Outcome<unknown>> {
  return post(`/api/applications/${application.id}/public/access-interest`, { kind, email, locale });
}
