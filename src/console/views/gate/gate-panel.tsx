/** The gate's three choices and their consequences. */
import { api, ask, type Schemas } from '../../api.ts';
import type { Choice } from '../../components/choices.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { counted } from '../../components/format.ts';
import { useToast } from '../../../pages/components/toast.tsx';
import { useConsole } from '../../console-context.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { GATES } from '../applications/words.ts';
import { ChoicePanel } from './choice-panel.tsx';

type GateValue = Schemas['SignInGate'];

const CHOICES: readonly Choice<GateValue>[] = (['public', 'private_beta', 'closed'] as const).map((value) => ({
  value,
  label: GATES[value].title,
  detail: GATES[value].meaning,
}));

interface GatePanelProps extends ApplicationViewProps {
  readonly counts: Schemas['BetaCounts'] | null;
  readonly onChanged: () => Promise<void>;
}

export function GatePanel({ application, counts, onChanged }: GatePanelProps) {
  const { reloadApplications } = useConsole();
  const toast = useToast();
  const { id, name, signinGate } = application;
  return (
    <ChoicePanel
      id="gate"
      title="Gate"
      label="Who can sign in"
      choices={CHOICES}
      current={signinGate}
      changeText="Change the gate"
      dialog={(gate) => (
        <FormDialog
          id="gate-dialog"
          title={`${TITLES[gate]} ${name}?`}
          lead={consequenceOf(gate, counts)}
          submitText={
            gate === 'public' && (counts?.toldAtLaunch ?? 0) > 0
              ? 'Open and notify them'
              : `Set to ${GATES[gate].title.toLowerCase()}`
          }
          isDanger={gate === 'closed'}
          send={() => ask(api.POST('/api/applications/{id}/signin-gate', { params: { path: { id } }, body: { gate } }))}
          onDone={async () => {
            toast(`The gate is ${GATES[gate].title.toLowerCase()} now.`);
            await reloadApplications();
            await onChanged();
          }}
        />
      )}
    />
  );
}

const TITLES: Readonly<Record<GateValue, string>> = {
  public: 'Open',
  private_beta: 'Start a private beta of',
  closed: 'Close',
};

function consequenceOf(gate: GateValue, counts: Schemas['BetaCounts'] | null): string {
  switch (gate) {
    case 'public': {
      const told = counts?.toldAtLaunch ?? 0;
      if (told === 0) return 'From the next sign-in on, anybody can sign in. Nobody is waiting to be notified.';
      return `From the next sign-in on, anybody can sign in. ${counted(told, 'person waits', 'people wait')} and will be notified by mail once, at the hourly rate the workspace may send. Sent mails cannot be taken back.`;
    }
    case 'private_beta': {
      const approved = counts?.approved ?? 0;
      return `From the next sign-in on, only ${counted(approved, 'approved address', 'approved addresses')} and the members of the workspace can sign in. Everybody else, including existing users, sees the waitlist and can request access. Open sessions stay open, and nobody is mailed.`;
    }
    case 'closed':
      return 'From the next sign-in on, only existing users can sign in. The allowlist stays, and has no effect until you open again. Open sessions stay open, and nobody is mailed.';
  }
}
