/** Sign-in with a discoverable passkey, so nobody types who they are. Ends in `completeSignIn` like every method. */
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import type { Random } from '../../core/random.ts';
import type { RelyingParty } from '../../core/relying-party.ts';
import type { Database } from '../../db/database.ts';
import { type Application, findApplicationByClientId, requireApplication } from '../../store/applications.ts';
import { countPasskeyUse, findPasskey, type Passkey } from '../../store/passkeys.ts';
import type { Sessions } from '../sessions/service.ts';
import { completeSignIn, type ProvenIdentity, recordRefusal } from '../sign-in/complete.ts';
import { signInRefused } from '../sign-in/refused.ts';
import type { SignedIn } from '../sign-in/model.ts';
import { openApplication } from '../sign-in/open-application.ts';
import { issueChallenge, useChallenge } from './challenges.ts';
import type { PasskeySignInInput, AssertionOptions } from './model.ts';
import { requestOptions, type VerifiedAssertion, verifyAssertion } from './webauthn.ts';

export interface PasskeySignInDependencies {
  readonly db: Database;
  readonly random: Random;
  readonly sessions: Sessions;
  readonly relyingParty: () => RelyingParty;
}

type SignInBrowser = Pick<ProvenIdentity, 'userAgent' | 'pageBrowser'>;

export type PasskeySignIn = ReturnType<typeof passkeySignIn>;

export function passkeySignIn(dependencies: PasskeySignInDependencies) {
  const { db, random, sessions, relyingParty } = dependencies;

  /** Audits a refusal. @returns the error to throw. */
  async function refused(
    actor: Actor,
    application: Application,
    passkey: Passkey | undefined,
    error: AppError,
  ): Promise<AppError> {
    await db.write(actor, (unit) =>
      recordRefusal(unit, application, { email: null, userId: passkey?.userId, method: 'passkey', reason: error.code }),
    );
    return error;
  }

  return {
    /** @throws {AppError} not_found, application_archived, forbidden, invalid_state */
    async options(actor: Actor, clientId: string): Promise<AssertionOptions> {
      const rp = relyingParty();
      const { id: applicationId } = openApplication(await findApplicationByClientId(db.reader, clientId), 'passkey');
      const { challengeId, challenge, expiresAt } = await db.write(actor, (unit) =>
        issueChallenge(unit, random, { purpose: 'sign_in', applicationId, sessionId: null }),
      );
      return { challengeId, expiresAt: isoTime(expiresAt), options: await requestOptions(rp, challenge) };
    },

    /**
     * Exchanges an assertion for a session. Consumes the challenge first, so that at most one answer is verified.
     *
     * @throws {AppError} code_expired, code_consumed, passkey_unknown, passkey_invalid, or a sign-in refusal.
     */
    async verify(actor: Actor, input: PasskeySignInInput, browser: SignInBrowser): Promise<SignedIn> {
      const rp = relyingParty();
      const used = await db.write(actor, (unit) =>
        useChallenge(unit, input.challengeId, { purpose: 'sign_in', sessionId: null }),
      );
      const application = await requireApplication(db.reader, used.applicationId);
      const passkey = await findPasskey(db.reader, Buffer.from(input.credential.id, 'base64url'));
      if (!passkey) throw await refused(actor, application, undefined, new AppError('passkey_unknown'));
      if (passkey.workspaceId !== null && passkey.workspaceId !== application.workspaceId) {
        const elsewhere = new AppError('passkey_invalid', { hint: 'passkey_of_other_applications' });
        throw await refused(actor, application, passkey, elsewhere);
      }
      let assertion: VerifiedAssertion;
      try {
        assertion = await verifyAssertion(rp, used.challenge, input.credential, passkey);
      } catch (error) {
        throw error instanceof AppError ? await refused(actor, application, passkey, error) : error;
      }
      const outcome = await db.write(actor, async (unit) => {
        // A counter that does not grow shows a cloned authenticator (WebAuthn §7.2, step 22); without one it stays 0.
        if (!(await countPasskeyUse(unit, passkey.id, assertion))) return null;
        // Read again: the application may have changed while the signature was verified.
        const current = await requireApplication(unit, application.id);
        const signIn = await completeSignIn(unit, sessions, current, {
          person: { userId: passkey.userId },
          method: 'passkey',
          credentialId: passkey.id,
          ...browser,
        });
        return { signIn, current };
      });
      if (!outcome) {
        const copied = new AppError('passkey_invalid', { hint: 'passkey_copied' });
        throw await refused(actor, application, passkey, copied);
      }
      const { signIn, current } = outcome;
      if (!signIn.ok) throw signInRefused(signIn.refusal, current);
      const { token, expiresAt, userId, applicationId } = signIn;
      return { token, expiresAt: isoTime(expiresAt), userId, applicationId };
    },
  };
}
