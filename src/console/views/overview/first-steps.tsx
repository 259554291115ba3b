/** From a new instance to the first verified session, in the order a newcomer needs: gone when it is done. */
import { Check } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { Icon } from '../../../pages/components/icon.tsx';
import { addresses } from '../../address.ts';
import { api, ask } from '../../api.ts';
import { Action, useReport } from '../../components/action.tsx';
import { CopyBox } from '../../components/copy.tsx';
import { Panel } from '../../components/panel.tsx';
import { Snippets } from '../../components/snippets.tsx';
import { useLoaded } from '../../data.ts';
import { useEvery } from '../../refresh.ts';
import { useWorld } from '../../rights.tsx';
import { useLiveEvents } from '../../shell/live.tsx';
import type { ApplicationViewProps } from '../../views.tsx';
import { useHealth } from '../health/use-health.ts';
import { verifySnippets } from './verify-snippets.ts';

const HIDDEN = 'gatehouse.console.first-steps.hidden';
/** How often it is looked whether the first verification has come. */
const LOOK_MS = 2000;
const LIVE_MS = 300;

export function FirstSteps({ application }: ApplicationViewProps) {
  const path = { id: application.id };
  const keys = useLoaded(() => ask(api.GET('/api/applications/{id}/api-keys', { params: { path } })), [application.id]);
  const people = useLoaded(
    () => ask(api.GET('/api/applications/{id}/users', { params: { path, query: { limit: 1 } } })),
    [application.id],
  );
  const [isHidden, setIsHidden] = useState(() => localStorage.getItem(HIDDEN) === application.id);
  useLiveEvents(LIVE_MS, (events) => events.some(({ kind }) => kind.startsWith('signin.')) && people.reload());

  const isClosed = application.archivedAt !== null || application.deletedAt !== null;
  if (keys.data === null || people.data === null || isHidden || isClosed) return null;
  return (
    <Steps
      application={application}
      hasKey={keys.data.items.length > 0}
      isVerified={keys.data.items.some(({ lastUsedAt }) => lastUsedAt !== null)}
      hasCome={people.data.items.some(({ lastSeenAt }) => lastSeenAt !== null)}
      reloadKeys={keys.reload}
      onHide={() => {
        localStorage.setItem(HIDDEN, application.id);
        setIsHidden(true);
      }}
    />
  );
}

interface StepsProps extends ApplicationViewProps {
  readonly hasKey: boolean;
  readonly isVerified: boolean;
  readonly hasCome: boolean;
  readonly reloadKeys: () => Promise<void>;
  readonly onHide: () => void;
}

function Steps({ application, hasKey, isVerified, hasCome, reloadKeys, onHide }: StepsProps) {
  const { workspace, reloadApplications } = useWorld();
  const report = useReport();
  const path = { id: application.id };
  const isOpen = application.stage === 'live';
  // With all of it done before the page was opened, there is nothing to say.
  const [wasDone] = useState(isOpen && hasCome && isVerified);
  const [token, setToken] = useState<string | null>(null);
  const health = useHealth();
  useEvery(isVerified ? null : LOOK_MS, reloadKeys);
  if (wasDone) return null;

  async function goLive(): Promise<void> {
    if (application.stage === 'draft') {
      const published = await ask(api.POST('/api/applications/{id}/publish', { params: { path } }));
      if (!report(published)) return;
    }
    const live = await ask(api.POST('/api/applications/{id}/go-live', { params: { path } }));
    if (report(live, `${application.name} is open to everybody.`)) await reloadApplications();
  }

  async function createKey(): Promise<void> {
    const body = { name: 'Backend', access: 'read' } as const;
    const made = await ask(api.POST('/api/applications/{id}/api-keys', { params: { path }, body }));
    if (!report(made)) return;
    setToken(made.data.token);
    await reloadKeys();
  }

  const mail = health.data?.mail;
  const signInUrl = `${location.origin}/sign-in?clientId=${encodeURIComponent(application.clientId)}`;
  return (
    <Panel
      id="first-steps"
      title="First steps"
      lead="From here to the first verified session."
      action={
        <Action needs="nothing" onClick={onHide}>
          Hide
        </Action>
      }
    >
      <ol class="steps-list">
        {mail && (
          <Step title="Mail" isDone={mail.transport === 'smtp'}>
            {mail.transport === 'smtp' ? (
              <>Codes go out by {mail.server}.</>
            ) : (
              <>
                There is no mail server yet: codes stay in the{' '}
                <Link href={addresses.workspace(workspace.id, 'outbox')}>outbox</Link>, where owners read them. To send
                them, set <code>GATEHOUSE_SMTP_URL</code>, then{' '}
                <Link href={addresses.workspace(workspace.id, 'health')}>send a test mail</Link>.
              </>
            )}
          </Step>
        )}
        {health.data && (
          <Step title="Address" isDone={!/^http:\/\/(localhost|127\.)/.test(health.data.baseUrl)}>
            Links and passkeys say <code>{health.data.baseUrl}</code>.{' '}
            {/^http:\/\/(localhost|127\.)/.test(health.data.baseUrl) && (
              <>
                Before others come, set <code>GATEHOUSE_BASE_URL</code> to the public https address.
              </>
            )}
          </Step>
        )}
        <Step title="Application" isDone>
          {application.name} is there. Its public identifier is <code>{application.clientId}</code>.
        </Step>
        <Step
          title="Open it"
          isDone={isOpen}
          action={
            !isOpen && (
              <Action look="primary" id="go-live" onClick={goLive}>
                Go live
              </Action>
            )
          }
        >
          {isOpen
            ? 'It is live: whoever the gate lets in can sign in.'
            : 'As a draft, only members of the workspace can sign in.'}
        </Step>
        <Step title="Sign in" isDone={hasCome}>
          {hasCome ? (
            'Somebody has signed in.'
          ) : (
            <>
              Open this page, best in another browser, and sign in.
              <CopyBox id="sign-in-link" value={signInUrl} label="sign-in link" />
              <a class="link" id="open-sign-in" href={signInUrl} target="_blank" rel="noreferrer">
                Open the sign-in page
              </a>
            </>
          )}
        </Step>
        <Step
          title="Verify in your backend"
          isDone={isVerified}
          action={
            !hasKey && (
              <Action look="primary" id="create-first-key" onClick={createKey}>
                Create API key
              </Action>
            )
          }
        >
          {token !== null && (
            <div class="secret">
              <p>This is the only time the key is shown.</p>
              <CopyBox id="first-key" value={token} label="API key" />
            </div>
          )}
          {isVerified ? (
            <span id="first-verified">The first session was verified.</span>
          ) : (
            <>
              <p>
                Your backend sends the session token that came back with the sign-in, on every request of its own.
                {hasKey && ' This list notices the first call.'}
              </p>
              <Snippets label="Verify a session" of={verifySnippets(location.origin, token)} />
            </>
          )}
        </Step>
      </ol>
    </Panel>
  );
}

interface StepProps {
  readonly title: string;
  readonly isDone: boolean;
  readonly action?: ComponentChildren;
  readonly children: ComponentChildren;
}

function Step({ title, isDone, action, children }: StepProps) {
  return (
    <li data-done={isDone ? '' : undefined}>
      <div class="step-head">
        <span class="step-mark" aria-hidden="true">
          {isDone && <Icon of={Check} size={16} />}
        </span>
        <h3>
          {title}
          {isDone && <span class="visually-hidden"> (done)</span>}
        </h3>
        {action}
      </div>
      <div class="step-body">{children}</div>
    </li>
  );
}
