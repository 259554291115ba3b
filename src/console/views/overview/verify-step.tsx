/** Last of the first steps: a successful verification by a backend, from a terminal or by the button. */
import { useState } from 'preact/hooks';
import { Field } from '../../../pages/components/field.tsx';
import type { Schemas } from '../../api.ts';
import { Action } from '../../components/action.tsx';
import { CopyBox } from '../../components/copy.tsx';
import { Snippets } from '../../components/snippets.tsx';
import { Time } from '../../components/time.tsx';
import { useTrial } from '../../trials.tsx';
import { FirstStep } from './first-step.tsx';
import { verifySnippets } from './verify-snippets.ts';

type Application = Schemas['Application'];

interface VerifyStepProps {
  readonly application: Application;
  readonly isNext: boolean;
  readonly onCalled: () => Promise<void>;
}

export function VerifyStep({ application, isNext, onCalled }: VerifyStepProps) {
  const { id, firstVerifiedAt, verificationRefusal } = application;
  const [{ key, token }, change] = useTrial(id);
  const [answer, setAnswer] = useState<string | null>(null);
  const shownAnswer = answer !== null && (
    <div id="verify-answer">
      <p>The server answered:</p>
      <CopyBox id="verify-answer-text" value={answer} label="answer" />
    </div>
  );
  if (firstVerifiedAt !== null)
    return (
      <FirstStep id="verify-step" title="Verify in your backend" isDone>
        <span id="first-verified">
          The first session was verified, <Time at={firstVerifiedAt} />.
        </span>
        {shownAnswer}
      </FirstStep>
    );

  async function run(): Promise<void> {
    if (key === null) return;
    setAnswer(await verify(key, token.trim()));
    await onCalled();
  }

  return (
    <FirstStep id="verify-step" title="Verify in your backend" isDone={false}>
      {verificationRefusal && (
        <p class="note" id="verification-refusal" role="status">
          A call arrived, but its token was refused: <code>{verificationRefusal.error}</code>,{' '}
          <Time at={verificationRefusal.at} />. {REMEDIES[verificationRefusal.error]}
        </p>
      )}
      <p>
        Your backend sends the session token from the sign-in with each request it receives. This step is done when a
        call succeeds, wherever it comes from.
      </p>
      <Field
        id="session-token"
        label="Session token"
        placeholder="est_…"
        autocomplete="off"
        autoCapitalize="none"
        autoCorrect="off"
        spellcheck={false}
        value={token}
        hint="A sign-in in this browser fills it in. From another browser, paste it."
        onInput={({ currentTarget }) => change({ token: currentTarget.value })}
      />
      <Snippets label="Verify a session" of={verifySnippets(location.origin, { key, token: token.trim() })} />
      {key === null ? (
        <p>Replace eak_… with your API key.</p>
      ) : (
        <Action id="run-verify" look={isNext ? 'primary' : 'plain'} isDisabled={token.trim() === ''} onClick={run}>
          Run it now
        </Action>
      )}
      {shownAnswer}
    </FirstStep>
  );
}

const REMEDIES: Readonly<Record<NonNullable<Application['verificationRefusal']>['error'], string>> = {
  invalid_token:
    'It is not a session token of this application. Send the one from the end of the sign-in; it begins with est_.',
  expired: 'The session has expired. Sign in again, and send the new token.',
  revoked: 'The session was ended. Sign in again, and send the new token.',
  membership_blocked: 'The person is paused, banned or deleted here. See Users.',
};

/** Makes the call of the snippets, with the key and without the console's cookie. @returns the answer as text. */
async function verify(key: string, token: string): Promise<string> {
  try {
    const response = await fetch('/api/v1/verify', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
      credentials: 'omit',
      cache: 'no-store',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return JSON.stringify(await response.json(), null, 2);
  } catch {
    return 'No answer: the server could not be reached. Check the connection, then try again.';
  }
}

const TIMEOUT_MS = 10_000;
