/** Shows why a sign-in was refused and what the reader can do, for each reason. */
import { Archive, Ban, Clock, DoorClosed, DoorOpen, Hammer, MailCheck, Trash2, UserRoundCog } from 'lucide';
import { useState } from 'preact/hooks';
import { post } from '../browser/api.ts';
import { Button, LinkButton } from '../components/button.tsx';
import { emphasized } from '../components/emphasis.tsx';
import { failureText } from '../components/failure-text.ts';
import { FieldError } from '../components/field.tsx';
import { OutcomeStep } from '../components/outcome.tsx';
import { useTexts } from '../components/texts.tsx';
import type { SignInData } from './offer.ts';
import { type PublicState, usePublicState } from './use-public-state.ts';

/** Refusals that apply to every sign-in method. */
export const REFUSALS = [
  'gate_closed',
  'waitlist',
  'user_deleted',
  'email_archived',
  'membership_blocked',
  'application_archived',
] as const;
export type Refusal = (typeof REFUSALS)[number];

export const isRefusal = (code: string): code is Refusal => REFUSALS.some((refusal) => refusal === code);

interface RefusedProps {
  readonly data: SignInData;
  readonly reason: Refusal;
  readonly email: string;
  readonly backTo: string | null;
  onOtherWay(): void;
}

/** Polls the application's state, so that the page updates when it opens or closes. */
export function Refused({ data, reason, email, backTo, onOtherWay }: RefusedProps) {
  const text = useTexts();
  const { application, methods } = data;
  const state = usePublicState(application.id, reason !== 'application_archived');
  const surface = surfaceOf(reason, state, application.isDraft);
  const app = application.name;
  /** @param isAlone nothing else can be done. */
  const leave = (isAlone: boolean) => (
    <>
      {backTo && (
        <LinkButton look="plain" id="back" href={backTo}>
          {text('signin.back', { app })}
        </LinkButton>
      )}
      {surface !== 'archived' && (
        <Button look={isAlone && !backTo ? 'plain' : 'quiet'} id="refused-change-email" onClick={onOtherWay}>
          {text(methods.isCodeAllowed ? 'signin.changeEmail' : 'signin.otherWay')}
        </Button>
      )}
    </>
  );

  switch (surface) {
    case 'waitlist':
      return <Interest kind="request" icon={Clock} {...{ data, email, state, onOtherWay, leave }} />;
    case 'closed':
      return <Interest kind="notify" icon={DoorClosed} {...{ data, email, state, onOtherWay, leave }} />;
    case 'draft':
      return <Interest kind="notify" icon={Hammer} {...{ data, email, state, onOtherWay, leave }} />;
    case 'opened':
      return (
        <OutcomeStep
          id="refused"
          icon={DoorOpen}
          tone="good"
          title={text('signin.openedTitle', { app })}
          lead={text('signin.openedLead')}
        >
          <Button id="sign-in-now" onClick={onOtherWay}>
            {text('signin.continue')}
          </Button>
        </OutcomeStep>
      );
    default:
      return (
        <OutcomeStep
          id="refused"
          {...ENDINGS[surface]}
          title={text(`signin.${surface}Title`, { app })}
          lead={emphasized(text, `signin.${surface}Lead`, { email, app })}
        >
          {leave(true)}
        </OutcomeStep>
      );
  }
}

/** Refusals that the reader cannot change here. */
const ENDINGS = {
  archived: { icon: Archive, tone: 'neutral' },
  blocked: { icon: Ban, tone: 'bad' },
  deleted: { icon: Trash2, tone: 'bad' },
  moved: { icon: UserRoundCog, tone: 'warn' },
} as const;

type Surface = 'waitlist' | 'closed' | 'draft' | 'opened' | keyof typeof ENDINGS;

const SURFACES: Readonly<Record<Refusal, Surface>> = {
  waitlist: 'waitlist',
  gate_closed: 'closed',
  user_deleted: 'deleted',
  email_archived: 'moved',
  membership_blocked: 'blocked',
  application_archived: 'archived',
};

function surfaceOf(reason: Refusal, state: PublicState | null, wasDraft: boolean): Surface {
  const surface = SURFACES[reason];
  if (state && (state.archivedAt !== null || state.deletedAt !== null)) return 'archived';
  if (surface !== 'waitlist' && surface !== 'closed') return surface;
  if (state ? state.stage === 'draft' : wasDraft) return 'draft';
  if (state?.signinGate === 'public') return 'opened';
  if (state?.signinGate === 'private_beta') return 'waitlist';
  return state?.signinGate === 'closed' ? 'closed' : surface;
}

interface InterestProps extends Pick<RefusedProps, 'data' | 'email' | 'onOtherWay'> {
  readonly kind: 'request' | 'notify';
  readonly icon: typeof Clock;
  readonly state: PublicState | null;
  readonly leave: (isAlone: boolean) => preact.ComponentChildren;
}

/** Offers a request for access or a notification, and confirms what was recorded. */
function Interest({ data, kind, icon, email, state, leave, onOtherWay }: InterestProps) {
  const text = useTexts();
  const { application, isDev } = data;
  const app = application.name;
  const [recorded, setRecorded] = useState<'request' | 'notify' | null>(null);
  const [isAtWork, setIsAtWork] = useState(false);
  const [error, setError] = useState<string | null>(null);

  async function record(): Promise<void> {
    if (isAtWork) return;
    setIsAtWork(true);
    const path = `/api/applications/${application.id}/public/access-interest`;
    const outcome = await post(path, { kind, email });
    setIsAtWork(false);
    if (!outcome.ok) return setError(failureText(text, outcome));
    setError(null);
    setRecorded(kind);
  }

  if (recorded === 'request' && state?.betaRequestPolicy === 'auto_accept')
    return (
      <OutcomeStep
        id="refused"
        icon={DoorOpen}
        tone="good"
        title={text('signin.acceptedTitle')}
        lead={emphasized(text, 'signin.acceptedLead', { email, app })}
      >
        <Button id="sign-in-now" onClick={onOtherWay}>
          {text('signin.verify')}
        </Button>
      </OutcomeStep>
    );
  if (recorded)
    return (
      <OutcomeStep
        id="refused"
        icon={MailCheck}
        tone="good"
        title={text(recorded === 'request' ? 'signin.requestedTitle' : 'signin.tellMeDoneTitle')}
        lead={emphasized(text, recorded === 'request' ? 'signin.requestedLead' : 'signin.tellMeDone', { email, app })}
      >
        {leave(true)}
      </OutcomeStep>
    );

  const isDraft = icon === Hammer;
  const title = kind === 'request' ? 'signin.waitlistTitle' : isDraft ? 'signin.draftTitle' : 'signin.closedTitle';
  return (
    <OutcomeStep id="refused" icon={icon} tone="warn" title={text(title, { app })} lead={leadOf()}>
      {isDraft && isDev && (
        <div class="sample-box">
          <p class="hint">{text('signin.draftCall')}</p>
          <pre class="sample" translate={false}>
            POST /api/applications/{application.id}/publish
          </pre>
        </div>
      )}
      {email !== '' && (
        <Button id="interest" busyText={isAtWork && text('signin.requesting')} onClick={() => void record()}>
          {text(kind === 'request' ? 'signin.requestAccess' : 'signin.tellMe')}
        </Button>
      )}
      <FieldError id="interest" error={error} />
      {leave(email === '')}
    </OutcomeStep>
  );

  function leadOf() {
    if (email === '') return text(isDraft ? 'signin.draftLeadUnknown' : 'signin.refusedLeadUnknown');
    if (kind === 'request') return emphasized(text, 'signin.waitlistLead', { app, email });
    return emphasized(text, isDraft ? 'signin.draftLead' : 'signin.closedLead', { email });
  }
}
