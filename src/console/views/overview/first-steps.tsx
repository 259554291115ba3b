/** Guide from a new application to the first verified session, and on to what its users need. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { api, ask, type Page, type Schemas } from '../../api.ts';
import { Action, useReport } from '../../components/action.tsx';
import { Panel } from '../../components/panel.tsx';
import { WhenNear } from '../../components/when-near.tsx';
import { useLoaded } from '../../data.ts';
import { useEvery } from '../../refresh.ts';
import { useRights, useConsole } from '../../console-context.tsx';
import { useLiveEvents } from '../../shell/live.tsx';
import { isSessionToken, useTrial } from '../../trials.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { useHealth } from '../health/use-health.ts';
import { KeyStep } from './key-step.tsx';
import { NextSteps } from './next-steps.tsx';
import { SignInStep } from './sign-in-step.tsx';
import { FirstStep } from './first-step.tsx';
import { VerifyStep } from './verify-step.tsx';

const LOOK_MS = 2000;
const LIVE_MS = 300;

const NOTHING = { ok: true as const, data: { items: [], nextCursor: null } };

interface FirstStepsProps extends ApplicationViewProps {
  /** Content after the steps. Below the first steps, it is rendered once it is scrolled into view. */
  readonly children: ComponentChildren;
}

/** Shown to admins and owners while the application is neither archived nor deleted. */
export function FirstSteps({ application, children }: FirstStepsProps) {
  const { canWrite } = useRights();
  const isClosed = application.archivedAt !== null || application.deletedAt !== null;
  const first = useHidden('first-steps', application.id);
  const next = useHidden('next-steps', application.id);
  if (!canWrite || isClosed || (first.isHidden && next.isHidden)) return children;
  return (
    <KnownSteps application={application} first={first} next={next}>
      {children}
    </KnownSteps>
  );
}

interface Hidden {
  readonly isHidden: boolean;
  hide(): void;
}

/** Whether the reader has hidden a panel of an application in this browser. */
function useHidden(panel: string, applicationId: string): Hidden {
  const key = `gatehouse.console.${panel}.hidden.${applicationId}`;
  const [isHidden, setIsHidden] = useState(() => localStorage.getItem(key) !== null);
  return {
    isHidden,
    hide() {
      localStorage.setItem(key, '');
      setIsHidden(true);
    },
  };
}

interface KnownStepsProps extends FirstStepsProps {
  readonly first: Hidden;
  readonly next: Hidden;
}

/** Loads what the steps depend on, and keeps it fresh. */
function KnownSteps({ application, first, next, children }: KnownStepsProps) {
  const { applicationsReadAt } = useConsole();
  const path = { id: application.id };
  const [trial] = useTrial(application.id);
  // The first steps need more than the next ones. They end with a verified session, unless a key waits to be stored.
  const [isFirstOver] = useState(
    first.isHidden || (application.stage === 'live' && application.firstVerifiedAt !== null && trial.key === null),
  );
  const keys = useLoaded<Page<unknown>>(
    async () =>
      isFirstOver
        ? NOTHING
        : ask(api.GET('/api/applications/{id}/api-keys', { params: { path, query: { limit: 1 } } })),
    [application.id],
  );
  const people = useLoaded<Page<Pick<Schemas['UserEntry'], 'lastSeenAt'>>>(
    async () =>
      isFirstOver ? NOTHING : ask(api.GET('/api/applications/{id}/users', { params: { path, query: { limit: 1 } } })),
    [application.id],
  );
  // The record of an older list may be stale; that of a list just read saves a request.
  const isFresh = useRef(performance.now() - applicationsReadAt < LOOK_MS);
  const record = useLoaded<Schemas['Application']>(async () => {
    const known = isFresh.current;
    isFresh.current = false;
    return known ? { ok: true, data: application } : ask(api.GET('/api/applications/{id}', { params: { path } }));
  }, [application.id]);
  const health = useHealth();
  const isVerified = record.data !== null && record.data.firstVerifiedAt !== null;
  useEvery(isVerified ? null : LOOK_MS, record.reload);
  useLiveEvents(LIVE_MS, (events) => events.some(({ kind }) => kind.startsWith('signin.')) && people.reload());
  // Shown all at once: a late step would move the buttons while the reader clicks.
  const isKnown = health.data !== null || health.failure !== null;
  const isFailed = [keys, people, record].some(({ data, failure }) => data === null && failure !== null);
  const shown = isKnown && keys.data && people.data && record.data;
  const rest = isFirstOver || isFailed ? children : shown && <WhenNear>{children}</WhenNear>;
  return (
    <>
      {!shown && !isFirstOver && !isFailed && <div class="panel skeleton-panel" aria-busy="true" />}
      {shown && !isFirstOver && !first.isHidden && (
        <Steps
          application={shown}
          health={health.data}
          hasKey={keys.data.items.length > 0}
          hasSignedIn={people.data.items.some(({ lastSeenAt }) => lastSeenAt !== null)}
          reloadKeys={keys.reload}
          reloadRecord={record.reload}
          onHide={first.hide}
        />
      )}
      {shown && !next.isHidden && (
        <NextSteps application={shown} health={health.data} onMailSet={health.reload} onHide={next.hide} />
      )}
      {rest}
    </>
  );
}

interface LoadedStepsProps extends ApplicationViewProps {
  /** Null if it could not be read. */
  readonly health: Schemas['InstanceHealth'] | null;
  readonly hasKey: boolean;
  readonly hasSignedIn: boolean;
  readonly reloadKeys: () => Promise<void>;
  readonly reloadRecord: () => Promise<void>;
  readonly onHide: () => void;
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
