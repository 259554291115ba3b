/** The step to the first sign-in: a link that ends with the session token, and the code where no mail server sends it. */
import { useEffect } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { TRIAL_LIFETIME_MS } from '../../../core/sign-in-trial.ts';
import { EmailField } from '../../../pages/components/field.tsx';
import { addresses } from '../../address.ts';
import { api, ask, type Schemas } from '../../api.ts';
import { CopyBox } from '../../components/copy.tsx';
import { Time } from '../../components/time.tsx';
import { useLoaded } from '../../data.ts';
import { useEvery } from '../../refresh.ts';
import { useRights, useConsole } from '../../console-context.tsx';
import { isSessionToken, useTrial } from '../../trials.tsx';
import { FirstStep } from './first-step.tsx';
import { useTrialCode } from './use-trial-code.ts';

interface SignInStepProps {
  readonly application: Schemas['Application'];
  readonly health: Schemas['InstanceHealth'] | null;
  readonly hasSignedIn: boolean;
  readonly isVerified: boolean;
  readonly isNext: boolean;
}

/** Well before the link expires. */
const RENEW_MS = 10 * 60_000;

export function SignInStep({ application, health, hasSignedIn, isVerified, isNext }: SignInStepProps) {
  return (
    <FirstStep id="sign-in-step" title="Sign in" isDone={hasSignedIn}>
      {hasSignedIn && <p>Somebody has signed in.</p>}
      {!isVerified && <TrySignIn application={application} health={health} isNext={isNext} />}
    </FirstStep>
  );
}

function TrySignIn({ application, health, isNext }: Pick<SignInStepProps, 'application' | 'health' | 'isNext'>) {
  const { id } = application;
  const { me } = useConsole();
  const [trial, change] = useTrial(id);
  const email = (trial.email ?? me.email).trim().toLowerCase();
  const isSignedIn = isSessionToken(trial.token);
  const isMailHere = health?.mail.transport === 'outbox';
  const code = useTrialCode(application, email, isMailHere && !isSignedIn);
  const link = useLoaded(
    () => ask(api.POST('/api/applications/{id}/sign-in-trial', { params: { path: { id } } })),
    [id],
  );
  useEvery(RENEW_MS, link.reload);
  const begun = link.data && new Date(Date.parse(link.data.expiresAt) - TRIAL_LIFETIME_MS).toISOString();
  useEffect(() => {
    if (begun !== null && trial.since === null) change({ since: begun });
  }, [begun]);

  if (isSignedIn)
    return (
      <p id="trial-signed-in">
        The session token is in the next step.{' '}
        <button class="link" id="sign-in-again" type="button" onClick={() => change({ token: '' })}>
          Sign in again
        </button>
      </p>
    );
  const { url = unknownUrl(application) } = link.data ?? {};
  return (
    <>
      <EmailField
        id="trial-email"
        label="Sign in as"
        autocomplete="off"
        value={trial.email ?? me.email}
        onInput={({ currentTarget }) => change({ email: currentTarget.value })}
      />
      {link.failure && (
        <p class="field-error" role="alert">
          {link.failure.message}
        </p>
      )}
      {(link.data || !link.failure) && (
        <TrialLink address={addressOf(url, email)} isKnown={link.data !== null} isNext={isNext} />
      )}
      {code ? (
        <>
          <p>
            Code for {email}, <Time at={code.sentAt} />
          </p>
          <div class="mail-code">
            <CopyBox id="trial-code" value={code.code} label="code" />
          </div>
        </>
      ) : (
        health && <WhereCodesGo isMailHere={isMailHere} email={email} />
      )}
    </>
  );
}

interface TrialLinkProps {
  readonly address: string;
  readonly isKnown: boolean;
  readonly isNext: boolean;
}

/** Until the link is known, its place is kept empty: a late one would move the steps below while the reader clicks. */
function TrialLink({ address, isKnown, isNext }: TrialLinkProps) {
  return (
    <div class="trial-link" data-reserved={isKnown ? undefined : ''}>
      <p>
        <a
          class={`button ${isNext ? 'primary' : 'plain'}`}
          id={isKnown ? 'open-sign-in' : undefined}
          href={address}
          target="_blank"
          rel="noreferrer"
        >
          <span>Open the sign-in page</span>
        </a>
      </p>
      <p>
        Or open this link in another browser. For half an hour it leads to a sign-in that ends with the session token on
        the page; without the link, nobody sees a token.
      </p>
      <CopyBox id={isKnown ? 'sign-in-link' : 'sign-in-link-place'} value={address} label="sign-in link" />
    </div>
  );
}

function WhereCodesGo({ isMailHere, email }: { readonly isMailHere: boolean; readonly email: string }) {
  const { workspace } = useConsole();
  const { isOwner } = useRights();
  if (!isMailHere) return <p>The code comes by mail: check the mailbox of {email}.</p>;
  if (!isOwner) return <p>No mail server is set: an owner of {workspace.name} finds the code in the outbox.</p>;
  return (
    <p>
      The code for {email} will appear here as soon as it is requested. Codes for others are in the{' '}
      <Link href={addresses.workspace(workspace.id, 'outbox')}>outbox</Link>.
    </p>
  );
}

/** Returns an address as long as the link will be, so that it fills as many lines. */
function unknownUrl({ clientId }: Schemas['Application']): string {
  const query = new URLSearchParams({ clientId, trial: '0'.repeat(TICKET_LENGTH) });
  return `${location.origin}/sign-in?${query}`;
}

/** Characters of a ticket: its expiry, a dot and its hash. */
const TICKET_LENGTH = 31;

/** Moves the link to the console's own origin: the token can be handed over within one origin only. */
function addressOf(url: string, email: string): string {
  const { pathname, searchParams } = new URL(url);
  if (email !== '') searchParams.set('email', email);
  return `${location.origin}${pathname}?${searchParams}`;
}
