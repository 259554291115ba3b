/** Policy for access requests, and the pending ones. */
import { useState } from 'preact/hooks';
import { useToast } from '../../../pages/components/toast.tsx';
import { api, ask, type Schemas } from '../../api.ts';
import { Action } from '../../components/action.tsx';
import { type Choice, ChooseOne } from '../../components/choices.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Panel } from '../../components/panel.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import { count, counted } from '../../components/format.ts';
import { useRights, useConsole } from '../../console-context.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';

type Policy = Schemas['BetaPolicy'];

const POLICIES: readonly Choice<Policy>[] = [
  { value: 'manual', label: 'Waits', detail: 'Requests stand on the allowlist until somebody decides.' },
  { value: 'auto_accept', label: 'Comes in', detail: 'Whoever asks is approved at once.' },
  {
    value: 'auto_decline',
    label: 'Is declined',
    detail: 'Whoever asks is put on the list of those who are told when you open.',
  },
];

interface PolicyPanelProps extends ApplicationViewProps {
  /** Null while unknown. */
  readonly pending: number | null;
  readonly onChanged: () => Promise<void>;
}

export function PolicyPanel({ application, pending, onChanged }: PolicyPanelProps) {
  const { canWrite } = useRights();
  const { reloadApplications } = useConsole();
  const toast = useToast();
  const { id, betaRequestPolicy, signinGate } = application;
  const [chosen, setChosen] = useState(betaRequestPolicy);
  const form = useForm({ isNotified: true });
  const waiting = pending ?? 0;
  const { open, dialog } = useDialog(() => (
    <FormDialog
      id="policy-dialog"
      title={TITLES[chosen]}
      lead={consequenceOf(chosen, waiting)}
      submitText={SUBMITS[chosen]}
      form={form}
      fields={[
        chosen === 'auto_accept' &&
          waiting > 0 && {
            kind: 'checkbox',
            id: 'policy-notify',
            name: 'isNotified',
            label: `Mail the ${counted(waiting, 'person', 'people')} who come in now`,
          },
      ]}
      send={() =>
        ask(
          api.POST('/api/applications/{id}/beta-policy', {
            params: { path: { id } },
            body: { policy: chosen, ...(chosen === 'auto_accept' && { notify: form.values.isNotified }) },
          }),
        )
      }
      onDone={async ({ decided }) => {
        toast(decided > 0 ? `${counted(decided, 'request')} decided.` : 'New requests are decided so from now on.');
        await reloadApplications();
        await onChanged();
      }}
    />
  ));
  return (
    <Panel
      id="policy"
      title="New requests"
      lead={signinGate === 'private_beta' ? undefined : 'Counts while the application is a private beta.'}
    >
      <ChooseOne
        id="policy-choice"
        label="Who asks to be let in"
        choices={POLICIES}
        chosen={chosen}
        isDisabled={!canWrite}
        onChange={setChosen}
      />
      <Action
        id="change-policy"
        look={chosen === betaRequestPolicy ? 'small' : 'primary'}
        isDisabled={chosen === betaRequestPolicy}
        onClick={open}
      >
        Change how requests are decided
      </Action>
      {dialog}
    </Panel>
  );
}

const TITLES: Readonly<Record<Policy, string>> = {
  manual: 'Decide by hand?',
  auto_accept: 'Let everybody in who asks?',
  auto_decline: 'Decline everybody who asks?',
};

const SUBMITS: Readonly<Record<Policy, string>> = {
  manual: 'Decide by hand',
  auto_accept: 'Let everybody in',
  auto_decline: 'Decline everybody',
};

function consequenceOf(policy: Policy, waiting: number): string {
  const who = waiting === 1 ? 'The one request that waits' : `The ${count(waiting)} requests that wait`;
  switch (policy) {
    case 'manual':
      return 'New requests wait on the allowlist until somebody decides. What was decided stays.';
    case 'auto_accept':
      return waiting === 0
        ? 'Whoever asks is approved at once. Nobody waits now.'
        : `Whoever asks is approved at once. ${who} now ${waiting === 1 ? 'is' : 'are'} approved with it.`;
    case 'auto_decline':
      return waiting === 0
        ? 'Whoever asks is put on the list of those who are told when you open. Nobody waits now.'
        : `Whoever asks is put on the list of those who are told when you open. ${who} now ${waiting === 1 ? 'is' : 'are'} put on it with it, and each person is told by mail that it is too early.`;
  }
}
