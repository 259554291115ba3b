/** Explains why somebody cannot sign in, with the remedy and the evidence. */
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { addresses } from '../../address.ts';
import { api, ask, type Outcome, type Schemas } from '../../api.ts';
import { Action, useReport } from '../../components/action.tsx';
import { Facts } from '../../components/facts.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { Time } from '../../components/time.tsx';
import { useLoaded } from '../../data.ts';
import { useRights, useConsole } from '../../console-context.tsx';
import { type AuthEvent, kindInWords, methodInWords, reasonOf } from '../activity/kinds.ts';
import { GATES, STAGES } from '../applications/words.ts';
import { BETA_STATUSES } from '../gate/words.ts';
import { type Evidence, type Step, verdictOf } from './verdict.ts';
import { ACTIONS, type UserAction } from './statuses.ts';

type Application = Schemas['Application'];

interface WhyRefusedProps {
  readonly application: Application;
  readonly email: string;
  readonly user: Schemas['UserDetail'] | null;
  readonly onAct?: (action: UserAction) => void;
}

const SHOWN = 5;

export function WhyRefused({ application, email, user, onAct }: WhyRefusedProps) {
  const { workspace } = useConsole();
  const { canWrite } = useRights();
  const report = useReport();
  const [, navigate] = useLocation();
  const verdictText = useRef<HTMLParagraphElement>(null);
  const { data, failure, reload } = useLoaded<Evidence>(
    () => gather({ application, email, user, workspaceId: workspace.id, canSeeList: canWrite }),
    [application.id, email, canWrite],
  );
  const known = useRef(user);
  // The old verdict stays while reloading, so that nothing below it moves.
  useEffect(() => {
    if (known.current !== user) void reload();
    known.current = user;
  }, [user]);
  if (failure) return <FailureNote failure={failure} onRetry={reload} />;
  if (!data) return <div class="skeleton" aria-busy="true" />;

  const verdict = verdictOf({ ...data, application, user });
  const { listed, failures } = data;
  const [last] = failures;

  async function allow(): Promise<void> {
    const body = { emails: [email], status: 'approved' as const };
    const params = { path: { id: application.id } };
    const outcome = await ask(api.POST('/api/applications/{id}/beta-interests', { params, body }));
    if (!report(outcome, `${email} may sign in now.`)) return;
    await reload();
    // The focused button has disappeared.
    verdictText.current?.focus();
  }

  function take(step: Step): unknown {
    if (step === 'allow') return allow();
    if (step === 'gate' || step === 'settings') return navigate(addresses.application(application.id, step));
    return onAct?.(step);
  }

  return (
    <>
      <div class="verdict" data-tone={verdict.isKeptOut ? 'bad' : 'good'}>
        <p id="why" ref={verdictText} tabIndex={-1}>
          {verdict.why}
        </p>
        <p>{verdict.remedy}</p>
        {verdict.also && verdict.also.length > 0 && <p class="fine">Also: {verdict.also.join(' ')}</p>}
        {verdict.step !== null && (
          <Action
            id="take-step"
            needs={verdict.step === 'gate' || verdict.step === 'settings' ? 'nothing' : 'write'}
            onClick={() => take(verdict.step as Step)}
          >
            {stepInWords(verdict.step)}
          </Action>
        )}
      </div>
      <Facts
        of={[
          ['Last refusal', last ? <LastFailure of={last} /> : <span class="muted">None on record</span>],
          ['Gate', GATES[application.signinGate].title],
          ['Stage', STAGES[application.stage].title],
          listed !== undefined && ['Allowlist', listed === null ? 'Not on it' : BETA_STATUSES[listed].title],
        ]}
      />
    </>
  );
}

function LastFailure({ of: event }: { readonly of: AuthEvent }) {
  const reason = reasonOf(event);
  const method = event.detail?.['method'];
  return (
    <>
      {kindInWords(event.kind)} <Time at={event.createdAt} />
      <span class="fine block">
        {[typeof method === 'string' && methodInWords(method), reason].filter(Boolean).join(': ')}
      </span>
    </>
  );
}

function stepInWords(step: Step): string {
  if (step === 'allow') return 'Approve the address';
  if (step === 'gate') return 'Go to the gate';
  if (step === 'settings') return 'Go to the settings';
  return `${ACTIONS[step].verb} them`;
}

interface Asked {
  readonly application: Application;
  readonly email: string;
  readonly user: Schemas['UserDetail'] | null;
  readonly workspaceId: string;
  readonly canSeeList: boolean;
}

async function gather({ application, email, user, workspaceId, canSeeList }: Asked): Promise<Outcome<Evidence>> {
  const path = { id: application.id };
  const failed = (query: { readonly userId: string } | { readonly email: string }) =>
    ask(
      api.GET('/api/applications/{id}/activity/list', {
        params: { path, query: { ...query, status: 'error', limit: SHOWN } },
      }),
    );
  const isBeta = application.signinGate === 'private_beta';
  // Refusals before the first sign-in may name an address without a user; later ones always name the user.
  const isUnknown = user === null || user.lastSeenAt === null;
  const [byEmail, byUser, list, members] = await Promise.all([
    isUnknown ? failed({ email }) : null,
    user ? failed({ userId: user.userId }) : null,
    canSeeList && isBeta
      ? ask(api.GET('/api/applications/{id}/beta-interests', { params: { path, query: { email, limit: 1 } } }))
      : null,
    isBeta || application.stage === 'draft'
      ? ask(api.GET('/api/workspace/members', { params: { query: { workspaceId, limit: 200 } } }))
      : null,
  ]);
  if (byEmail && !byEmail.ok) return byEmail;
  if (byUser && !byUser.ok) return byUser;
  if (list && !list.ok) return list;
  if (members && !members.ok) return members;
  const failures = new Map(
    [...(byEmail?.data.items ?? []), ...(byUser?.data.items ?? [])].map((event) => [event.id, event]),
  );
  const isThisMember = (member: Schemas['Member']) =>
    member.email === email.toLowerCase() || member.userId === user?.userId;
  return {
    ok: true,
    data: {
      application,
      user,
      listed: list ? (list.data.items[0]?.status ?? null) : undefined,
      isMember: members?.data.items.some(isThisMember) ?? false,
      failures: [...failures.values()].sort((one, other) => (one.createdAt < other.createdAt ? 1 : -1)),
    },
  };
}
