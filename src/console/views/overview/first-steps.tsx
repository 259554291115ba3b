/** Guide from a new instance to the first verified session; disappears when done. */
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { addresses } from '../../address.ts';
import { api, ask, type Schemas } from '../../api.ts';
import { Action, useReport } from '../../components/action.tsx';
import { Panel } from '../../components/panel.tsx';
import { useLoaded } from '../../data.ts';
import { useEvery } from '../../refresh.ts';
import { useRights, useConsole } from '../../console-context.tsx';
import { useLiveEvents } from '../../shell/live.tsx';
import { isSessionToken, useTrial } from '../../trials.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { useHealth } from '../health/use-health.ts';
import { KeyStep } from './key-step.tsx';
import { SignInStep } from './sign-in-step.tsx';
import { FirstStep } from './first-step.tsx';
import { VerifyStep } from './verify-step.tsx';

const HIDDEN = 'gatehouse.console.first-steps.hidden';
const LOOK_MS = 2000;
const LIVE_MS = 300;

/** Shown to admins and owners while the application is neither archived nor deleted. */
export function FirstSteps({ application }: ApplicationViewProps) {
  const { canWrite } = useRights();
  const isClosed = application.archivedAt !== null || application.deletedAt !== null;
  const [isHidden, setIsHidden] = useState(() => localStorage.getItem(HIDDEN) === application.id);
  if (!canWrite || isClosed || isHidden) return null;
  return (
    <KnownSteps
      application={application}
      onHide={() => {
        localStorage.setItem(HIDDEN, application.id);
        setIsHidden(true);
      }}
    />
  );
}

interface StepsProps extends ApplicationViewProps {
  readonly onHide: () => void;
}

/** Loads what the steps depend on, and keeps it fresh. */
function KnownSteps({ application, onHide }: StepsProps) {
  const path = { id: application.id };
  const keys = useLoaded(
    () => ask(api.GET('/api/applications/{id}/api-keys', { params: { path, query: { limit: 1 } } })),
    [application.id],
  );
  const people = useLoaded(
    () => ask(api.GET('/api/applications/{id}/users', { params: { path, query: { limit: 1 } } })),
    [application.id],
  );
  // The console's list may be stale; the record itself shows the first verification.
  const record = useLoaded(() => ask(api.GET('/api/applications/{id}', { params: { path } })), [application.id]);
  const health = useHealth();
  const isVerified = record.data !== null && record.data.firstVerifiedAt !== null;
  useEvery(isVerified ? null : LOOK_MS, record.reload);
  useLiveEvents(LIVE_MS, (events) => events.some(({ kind }) => kind.startsWith('signin.')) && people.reload());
  // Shown all at once: a late step would move the buttons while the reader clicks.
  if (keys.data === null || people.data === null || record.data === null) return null;
  if (health.data === null && health.failure === null) return null;
  return (
    <Steps
      application={record.data}
      health={health.data}
      hasKey={keys.data.items.length > 0}
      hasSignedIn={people.data.items.some(({ lastSeenAt }) => lastSeenAt !== null)}
      reloadKeys={keys.reload}
      reloadRecord={record.reload}
      onHide={onHide}
    />
  );
}

interface LoadedStepsProps extends StepsProps {
  /** Null if it could not be read. */
  readonly health: Schemas['InstanceHealth'] | null;
  readonly hasKey: boolean;
  readonly hasSignedIn: boolean;
  readonly reloadKeys: () => Promise<void>;
  readonly reloadRecord: () => Promise<void>;
}

function Steps({ application, health, hasKey, hasSignedIn, reloadKeys, reloadRecord, onHide }: LoadedStepsProps) {
  const [trial] = useTrial(application.id);
  const isVerified = application.firstVerifiedAt !== null;
  // Shows nothing if all was done before the page opened, unless a key waits to be stored.
  const [wasDone] = useState(application.stage === 'live' && hasSignedIn && isVerified && trial.key === null);
  if (wasDone) return null;
  const next = nextOf(application, hasKey, hasSignedIn || isSessionToken(trial.token));
  return (
    <Panel
      id="first-steps"
      title="First steps"
      lead="From here to the first verified session."
      action={
        trial.key === null && (
          <Action needs="nothing" onClick={onHide}>
            Hide
          </Action>
        )
      }
    >
      <ol class="steps-list">
        {health && <InstanceSteps health={health} />}
        <FirstStep title="Application" isDone>
          {application.name} is there. Its public identifier is <code>{application.clientId}</code>.
        </FirstStep>
        <OpenStep application={application} isNext={next === 'open'} onChanged={reloadRecord} />
        <KeyStep application={application} hasKey={hasKey} isNext={next === 'key'} onCreated={reloadKeys} />
        <SignInStep
          application={application}
          health={health}
          hasSignedIn={hasSignedIn}
          isVerified={isVerified}
          isNext={next === 'sign-in'}
        />
        <VerifyStep application={application} isNext={next === 'verify'} onCalled={reloadRecord} />
      </ol>
    </Panel>
  );
}

type NextStep = 'open' | 'key' | 'sign-in' | 'verify';

/** Returns the first open step; only its button is primary. */
function nextOf({ stage }: Schemas['Application'], hasKey: boolean, isSignedIn: boolean): NextStep {
  if (stage !== 'live') return 'open';
  if (!hasKey) return 'key';
  return isSignedIn ? 'verify' : 'sign-in';
}

const IS_LOOPBACK = /^http:\/\/(localhost|127\.)/;

/** Mail server and base URL: needed before other people sign in, not for the first verification. */
function InstanceSteps({ health: { mail, baseUrl } }: { readonly health: Schemas['InstanceHealth'] }) {
  const { workspace } = useConsole();
  return (
    <>
      <FirstStep title="Mail" isDone={mail.transport === 'smtp'}>
        {mail.transport === 'smtp' ? (
          <>Codes are sent by {mail.server ?? 'the mail server'}.</>
        ) : (
          <>
            There is no mail server yet: codes stay in the{' '}
            <Link href={addresses.workspace(workspace.id, 'outbox')}>outbox</Link>, where owners read them. To send
            them, set <code>GATEHOUSE_SMTP_URL</code>, then{' '}
            <Link href={addresses.workspace(workspace.id, 'health')}>send a test mail</Link>.
          </>
        )}
      </FirstStep>
      <FirstStep title="Address" isDone={!IS_LOOPBACK.test(baseUrl)}>
        Links and passkeys use <code>{baseUrl}</code>.{' '}
        {IS_LOOPBACK.test(baseUrl) && (
          <>
            Before others sign in, set <code>GATEHOUSE_BASE_URL</code> to the public https address.
          </>
        )}
      </FirstStep>
    </>
  );
}

interface OpenStepProps extends ApplicationViewProps {
  readonly isNext: boolean;
  readonly onChanged: () => Promise<void>;
}

/** Goes from draft to live directly; the settings offer the test stage in between. */
function OpenStep({ application, isNext, onChanged }: OpenStepProps) {
  const { reloadApplications } = useConsole();
  const report = useReport();
  const path = { id: application.id };
  const isOpen = application.stage === 'live';

  async function goLive(): Promise<void> {
    if (application.stage === 'draft') {
      const published = await ask(api.POST('/api/applications/{id}/publish', { params: { path } }));
      if (!report(published)) return;
    }
    const live = await ask(api.POST('/api/applications/{id}/go-live', { params: { path } }));
    if (!report(live, `${application.name} is open to everybody.`)) return;
    await onChanged();
    await reloadApplications();
  }

  return (
    <FirstStep
      title="Open it"
      isDone={isOpen}
      action={
        !isOpen && (
          <Action look={isNext ? 'primary' : 'plain'} id="go-live" onClick={goLive}>
            Go live
          </Action>
        )
      }
    >
      {isOpen
        ? 'It is live: anybody the gate lets in can sign in.'
        : 'As a draft, only members of the workspace can sign in.'}
    </FirstStep>
  );
}
