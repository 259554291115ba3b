/** The gate's three choices and their consequences. */
import { useState } from 'preact/hooks';
import { api, ask, type Schemas } from '../../api.ts';
import { Action } from '../../components/action.tsx';
import { type Choice, ChooseOne } from '../../components/choices.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Panel } from '../../components/panel.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import { counted } from '../../components/format.ts';
import { useToast } from '../../../pages/components/toast.tsx';
import { useRights, useConsole } from '../../console-context.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { GATES } from '../applications/words.ts';

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
  const { canWrite } = useRights();
  const { reloadApplications } = useConsole();
  const toast = useToast();
  const { id, signinGate } = application;
  const [chosen, setChosen] = useState(signinGate);
  const title = GATES[chosen].title.toLowerCase();
  const { open, dialog } = useDialog(() => (
    <FormDialog
      id="gate-dialog"
      title={`${TITLES[chosen]} ${application.name}?`}
      lead={consequenceOf(chosen, counts)}
      submitText={chosen === 'public' && (counts?.toldAtLaunch ?? 0) > 0 ? 'Open and notify them' : `Set to ${title}`}
      isDanger={chosen === 'closed'}
      send={() =>
        ask(api.POST('/api/applications/{id}/signin-gate', { params: { path: { id } }, body: { gate: chosen } }))
      }
      onDone={async () => {
        toast(`The gate is ${title} now.`);
        await reloadApplications();
        await onChanged();
      }}
    />
  ));
  return (
    <Panel id="gate" title="Gate">
      <ChooseOne
        id="gate-choice"
        label="Who can sign in"
        choices={CHOICES}
        chosen={chosen}
        isDisabled={!canWrite}
        onChange={setChosen}
      />
      <Action
        id="change-gate"
        look={chosen === signinGate ? 'small' : 'primary'}
        isDisabled={chosen === signinGate}
        onClick={open}
      >
        Change the gate
      </Action>
      {dialog}
    </Panel>
  );
}

const TITLES: Readonly<Record<GateValue, string>> = {
  public: 'Open',
  private_beta: 'Begin a private beta of',
  closed: 'Close',
};

function consequenceOf(gate: GateValue, counts: Schemas['BetaCounts'] | null): string {
  switch (gate) {
    case 'public': {
      const told = counts?.toldAtLaunch ?? 0;
      if (told === 0) return 'From the next sign-in on anybody can come in. Nobody is waiting to be told.';
      return `From the next sign-in on anybody can come in. ${counted(told, 'person waits', 'people wait')} and will be told by mail, each once: as many an hour as the workspace may send. Mails that are sent cannot be taken back.`;
    }
    case 'private_beta': {
      const approved = counts?.approved ?? 0;
      return `From the next sign-in on only ${counted(approved, 'approved address', 'approved addresses')} and the members of the workspace come in. Everybody else, users of before included, sees the waitlist and can ask. Sessions that are open stay open, and nobody is mailed.`;
    }
    case 'closed':
      return 'From the next sign-in on only people who are users already come in. The allowlist stays, and has no effect until you open again. Sessions that are open stay open, and nobody is mailed.';
  }
}
