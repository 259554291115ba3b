/** Shows why a sign-in was refused and what the reader can do, for each reason. */
import { Archive, Ban, DoorOpen, Trash2, UserRoundCog } from 'lucide';
import type { AccessRequest } from '../browser/access-request.ts';
import { Button, LinkButton } from '../components/button.tsx';
import { emphasized } from '../components/emphasis.tsx';
import { OutcomeStep } from '../components/outcome.tsx';
import { useTexts } from '../components/texts.tsx';
import { Interest } from './interest.tsx';
import type { PublicState, SignInData } from './offer.ts';
import type { Refusal } from './refusal.ts';
import { isOutOfService } from './use-public-state.ts';
import { useStanding } from './use-standing.ts';

interface RefusedProps {
  readonly data: SignInData;
  readonly reason: Refusal;
  readonly email: string;
  readonly backTo: string | null;
  /** Followed, so that the page updates when the application opens or closes. */
  readonly state?: PublicState | null;
  readonly request?: AccessRequest | null;
  /** The request was read or made just now. */
  readonly isFresh?: boolean;
  onOtherWay(): void;
}

export function Refused(props: RefusedProps) {
  const { data, reason, email, backTo, state = null, request: given = null, isFresh = false, onOtherWay } = props;
  const text = useTexts();
  const { application, methods } = data;
  const surface = surfaceOf(reason, state);
  const app = application.name;
  const home = backTo ?? application.homeUrl;
  const isFirst = isHelpNext(surface);
  const isArchived = surface === 'archived';
  const help = application.supportUrl !== null && (
    <LinkButton look={isFirst ? 'primary' : isArchived ? 'plain' : 'quiet'} id="support" href={application.supportUrl}>
      {text('signin.writeTo', { app })}
    </LinkButton>
  );
  const standing = useStanding(application, given, isFresh);
  const isUnproved = standing.request !== null && standing.request.ticket === null;
  /** @param isAlone nothing else can be done. */
  const leave = (isAlone: boolean) => (
    <>
      {isFirst && help}
      {home !== null && (
        <LinkButton look={isArchived ? 'primary' : 'plain'} id="back" href={home}>
          {text('signin.back', { app })}
        </LinkButton>
      )}
      {!isFirst && help}
      {!isArchived && (
        <Button
          look={isAlone && home === null && !help ? 'plain' : 'quiet'}
          id="refused-change-email"
          onClick={onOtherWay}
        >
          {text(isUnproved ? 'signin.toSignIn' : methods.isCodeAllowed ? 'signin.changeEmail' : 'signin.otherWay')}
        </Button>
      )}
    </>
  );

  switch (surface) {
    case 'waitlist':
    case 'closed':
    case 'draft':
      return <Interest {...{ data, surface, email, state, standing, isFresh, leave, onOtherWay }} />;
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
          lead={
            surface === 'blocked' && email === ''
              ? text('signin.blockedLeadUnknown', { app })
              : emphasized(text, `signin.${surface}Lead`, { email, app })
          }
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

/** Returns whether only the people who run the application can change anything. */
const isHelpNext = (surface: Surface) => surface === 'blocked' || surface === 'deleted';

type Surface = 'waitlist' | 'closed' | 'draft' | 'opened' | keyof typeof ENDINGS;

const SURFACES: Readonly<Record<Refusal, Surface>> = {
  waitlist: 'waitlist',
  gate_closed: 'closed',
  user_deleted: 'deleted',
  email_archived: 'moved',
  membership_blocked: 'blocked',
  application_archived: 'archived',
};

function surfaceOf(reason: Refusal, state: PublicState | null): Surface {
  const surface = SURFACES[reason];
  if (isOutOfService(state)) return 'archived';
  if (!state || (surface !== 'waitlist' && surface !== 'closed')) return surface;
  if (state.stage === 'draft') return 'draft';
  return GATES[state.signinGate];
}

const GATES = { public: 'opened', private_beta: 'waitlist', closed: 'closed' } as const;
