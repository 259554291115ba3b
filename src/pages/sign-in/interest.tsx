/** Surfaces of a person who is not let in yet: offers a request for access, and shows where it stands. */
import { Clock, DoorClosed, DoorOpen, Hammer, Hourglass, MailCheck } from 'lucide';
import { type ComponentChildren, Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { dayText } from '../components/day-text.ts';
import { emphasized } from '../components/emphasis.tsx';
import { failureText } from '../components/failure-text.ts';
import { FieldError } from '../components/field.tsx';
import { OutcomeStep } from '../components/outcome.tsx';
import { useTexts } from '../components/texts.tsx';
import type { PublicState, SignInData } from './offer.ts';
import { postRequest } from './post-request.ts';
import type { Standing } from './use-standing.ts';

interface InterestProps {
  readonly data: SignInData;
  readonly surface: 'waitlist' | 'closed' | 'draft';
  readonly email: string;
  readonly state: PublicState | null;
  readonly standing: Standing;
  /** The request was read or made just now. */
  readonly isFresh: boolean;
  readonly leave: (isAlone: boolean) => ComponentChildren;
  onOtherWay(): void;
}

const ICONS = { waitlist: Clock, closed: DoorClosed, draft: Hammer };

export function Interest(props: InterestProps) {
  const { data, surface, email, state, leave, onOtherWay } = props;
  const text = useTexts();
  const { application, isDev } = data;
  const app = application.name;
  const { request, record } = props.standing;
  const [isRecorded, setIsRecorded] = useState(props.isFresh && request?.ticket === null);
  const [isAtWork, setIsAtWork] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const kind = surface === 'waitlist' ? 'request' : 'notify';
  const status = request?.status ?? 'none';

  async function send(): Promise<void> {
    if (isAtWork) return;
    setIsAtWork(true);
    const outcome = await postRequest(data, kind, email);
    setIsAtWork(false);
    if (!outcome.ok) return setError(failureText(text, outcome));
    setError(null);
    setIsRecorded(true);
    const next = kind === 'request' ? 'pending' : 'notify';
    record({ email, status: next, since: new Date().toISOString(), ticket: request?.ticket ?? null });
  }

  const isAccepted = isRecorded && status === 'pending' && state?.betaRequestPolicy === 'auto_accept';
  if (surface === 'waitlist' && (status === 'approved' || isAccepted))
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
  const ask = (label: 'signin.requestAccess' | 'signin.tellMe', look: 'primary' | 'plain' = 'primary') => (
    <Fragment>
      <Button id="interest" look={look} busyText={isAtWork && text('signin.requesting')} onClick={() => void send()}>
        {text(label)}
      </Button>
      <FieldError id="interest" error={error} />
    </Fragment>
  );
  if (status === 'pending')
    return (
      <OutcomeStep
        id="refused"
        icon={isRecorded ? MailCheck : Hourglass}
        tone={isRecorded ? 'good' : 'neutral'}
        title={pendingTitle()}
        lead={emphasized(text, 'signin.requestedLead', { email })}
      >
        {leave(true)}
      </OutcomeStep>
    );
  if (status === 'notify' || status === 'declined')
    return (
      <OutcomeStep
        id="refused"
        icon={status === 'notify' ? MailCheck : Hourglass}
        tone={status === 'notify' ? 'good' : 'neutral'}
        title={text(status === 'notify' ? 'signin.tellMeDoneTitle' : 'signin.declinedTitle')}
        lead={emphasized(text, 'signin.tellMeDone', { email, app })}
      >
        {status === 'notify' && kind === 'request' && ask('signin.requestAccess', 'plain')}
        {leave(true)}
      </OutcomeStep>
    );

  const titles = {
    waitlist: 'signin.waitlistTitle',
    closed: 'signin.closedTitle',
    draft: 'signin.draftTitle',
  } as const;
  return (
    <OutcomeStep id="refused" icon={ICONS[surface]} tone="warn" title={text(titles[surface], { app })} lead={leadOf()}>
      {surface === 'draft' && isDev && (
        <div class="sample-box">
          <p class="hint">{text('signin.draftCall')}</p>
          <pre class="sample" translate={false}>
            POST /api/applications/{application.id}/publish
          </pre>
        </div>
      )}
      {email !== '' && ask(kind === 'request' ? 'signin.requestAccess' : 'signin.tellMe')}
      {leave(email === '')}
    </OutcomeStep>
  );

  function pendingTitle() {
    // Without a ticket the decision is not known here.
    if (isRecorded || !request?.since || request.ticket === null) return text('signin.requestedTitle');
    return text('signin.waitingTitle', { date: dayText(text.locale, request.since) });
  }

  function leadOf() {
    if (email === '') return text(surface === 'draft' ? 'signin.draftLeadUnknown' : 'signin.refusedLeadUnknown');
    if (surface === 'waitlist') return emphasized(text, 'signin.waitlistLead', { app, email });
    return emphasized(text, surface === 'draft' ? 'signin.draftLead' : 'signin.closedLead', { email });
  }
}
