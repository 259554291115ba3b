/** Tries a sign-in as an application's OpenID client: sends the tab to it, and shows what came back. */
import { useEffect, useState } from 'preact/hooks';
import { Link, useSearch } from 'wouter-preact';
import { addresses } from '../../address.ts';
import { api, ask, type Failure } from '../../api.ts';
import { CopyBox } from '../../components/copy.tsx';
import { Facts } from '../../components/facts.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Panel } from '../../components/panel.tsx';
import { Status } from '../../components/status.tsx';
import {
  beginTrial,
  type OpenIdTrial,
  storedTrial,
  type TrialAnswer,
  trialAnswer,
  TRIAL_PATH,
} from '../settings/openid-trial.ts';

export function OpenIdTry() {
  const query = new URLSearchParams(useSearch());
  const applicationId = query.get('application');
  if (applicationId !== null) return <Begin applicationId={applicationId} />;
  const answer = trialAnswer(query, storedTrial());
  return (
    <div class="settings-parts" id="openid-answer">
      <Answer answer={answer} />
      {answer.kind !== 'stranger' && <Next trial={answer.trial} />}
    </div>
  );
}

function Begin({ applicationId }: { readonly applicationId: string }) {
  const [failure, setFailure] = useState<Failure | null>(null);
  const [trouble, setTrouble] = useState('');

  async function begin(): Promise<void> {
    setFailure(null);
    const params = { path: { id: applicationId } };
    const outcome = await ask(api.GET('/api/applications/{id}/openid', { params }));
    if (!outcome.ok) return setFailure(outcome);
    if (outcome.data.updatedAt === null)
      return setTrouble(
        'OpenID Connect is not set up for this application. Save a redirect URI in its settings first.',
      );
    const url = await beginTrial(applicationId, outcome.data);
    if (url === null)
      return setTrouble('The browser makes the PKCE challenge on https and on localhost only. Open the console there.');
    // Going back from the sign-in page must not begin another trial.
    location.replace(url);
  }

  useEffect(() => void begin(), [applicationId]);
  return (
    <>
      <PageHead title="Try OpenID Connect" lead={trouble || 'The sign-in page opens.'} />
      {failure && <FailureNote failure={failure} onRetry={begin} />}
      {trouble && <Link href={settingsOf(applicationId)}>Back to the settings</Link>}
    </>
  );
}

function Answer({ answer }: { readonly answer: TrialAnswer }) {
  if (answer.kind === 'stranger')
    return (
      <PageHead
        title="There is no answer to show"
        lead="This tab has not begun this sign-in, or another one since. Begin with Try it in the OpenID settings of an application."
      />
    );
  if (answer.kind === 'refused')
    return (
      <>
        <PageHead title="The sign-in was refused" lead={ERRORS[answer.error] ?? 'The server says why below.'} />
        <Panel title="What a product gets">
          <Facts
            of={[
              ['error', <code>{answer.error}</code>],
              ['error_description', answer.description || null],
              ['state', <Status tone="good">Matches the request</Status>],
              ['iss', <Status tone="good">Matches the issuer</Status>],
            ]}
          />
        </Panel>
      </>
    );
  return (
    <>
      <PageHead title="The sign-in works" lead="The code has arrived, as it would at a product." />
      <Panel
        title="Exchange the code"
        lead={`It is good for one minute and one use.${answer.trial.isPublic ? '' : ' Put the client secret where ecs_… stands.'}`}
      >
        <Facts
          of={[
            ['code', <code>{answer.code}</code>],
            ['state', <Status tone="good">Matches the request</Status>],
            ['iss', <Status tone="good">Matches the issuer</Status>],
          ]}
        />
        <CopyBox id="openid-exchange" value={answer.command} label="command that exchanges the code" />
      </Panel>
    </>
  );
}

/** Errors of an authorization (RFC 6749 §4.1.2.1, OpenID Connect Core §3.1.2.6), and what to do. */
const ERRORS: Readonly<Record<string, string>> = {
  access_denied: 'The person went back, or may not sign in to this application.',
  login_required: 'Nobody is signed in.',
  interaction_required: 'The person has to choose an account.',
  invalid_request: 'The request is not complete.',
  temporarily_unavailable: 'The server is busy. Try again in a moment.',
  server_error: 'The server failed. Its log says why.',
};

function Next({ trial: { applicationId } }: { readonly trial: OpenIdTrial }) {
  return (
    <p class="openid-next">
      <a class="link" id="try-again" href={`/console${TRIAL_PATH}?application=${encodeURIComponent(applicationId)}`}>
        Try again
      </a>
      <Link href={settingsOf(applicationId)}>Back to the settings</Link>
    </p>
  );
}

const settingsOf = (applicationId: string) => addresses.application(applicationId, 'settings', 'openid');
