/** Policy for access requests, and the pending ones. */
import { useToast } from '../../../pages/components/toast.tsx';
import { api, ask, type Schemas } from '../../api.ts';
import type { Choice } from '../../components/choices.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import { count, counted } from '../../components/format.ts';
import { useConsole } from '../../console-context.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { ChoicePanel } from './choice-panel.tsx';

type Policy = Schemas['BetaPolicy'];

const POLICIES: readonly Choice<Policy>[] = [
  { value: 'manual', label: 'Decide by hand', detail: 'Requests stay pending until an admin or owner decides.' },
  { value: 'auto_accept', label: 'Approve automatically', detail: 'Everybody who asks can sign in at once.' },
  {
    value: 'auto_decline',
    label: 'Decline for now',
    detail: 'Everybody who asks is notified when the application opens.',
  },
];

interface PolicyPanelProps extends ApplicationViewProps {
  readonly pending: number | null;
  readonly onChanged: () => Promise<void>;
}

export function PolicyPanel({ application, pending, onChanged }: PolicyPanelProps) {
  const { reloadApplications } = useConsole();
  const toast = useToast();
  const { id, betaRequestPolicy, signinGate } = application;
  const form = useForm({ isNotified: true });
  const waiting = pending ?? 0;
  return (
    <ChoicePanel
      id="policy"
      title="New requests"
      lead={signinGate === 'private_beta' ? undefined : 'Applies while the application is a private beta.'}
      label="Requests for access"
      choices={POLICIES}
      current={betaRequestPolicy}
      changeText="Change how requests are decided"
      dialog={(policy) => (
        <FormDialog
          id="policy-dialog"
          title={TITLES[policy]}
          lead={consequenceOf(policy, waiting)}
          submitText={SUBMITS[policy]}
          form={form}
          fields={[
            policy === 'auto_accept' &&
              waiting > 0 && {
                kind: 'checkbox',
                id: 'policy-notify',
                name: 'isNotified',
                label: `Mail the ${counted(waiting, 'person', 'people')} who are approved now`,
              },
          ]}
          send={() =>
            ask(
              api.POST('/api/applications/{id}/beta-policy', {
                params: { path: { id } },
                body: { policy, ...(policy === 'auto_accept' && { notify: form.values.isNotified }) },
              }),
            )
          }
          onDone={async ({ decided }) => {
            toast(
              decided > 0
                ? `${counted(decided, 'request')} decided.`
                : 'New requests are decided this way from now on.',
            );
            await reloadApplications();
            await onChanged();
          }}
        />
      )}
    />
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
      return 'New requests wait on the allowlist until somebody decides. Earlier decisions stay.';
    case 'auto_accept':
      return waiting === 0
        ? 'Everybody who asks is approved at once. Nobody is waiting now.'
        : `Everybody who asks is approved at once. ${who} now ${waiting === 1 ? 'is' : 'are'} approved too.`;
    case 'auto_decline':
      return waiting === 0
        ? 'Everybody who asks is notified when you open. Nobody is waiting now.'
        : `Everybody who asks is notified when you open. ${who} now ${waiting === 1 ? 'is' : 'are'} declined too, and each person is told by mail that it is too early.`;
  }
}
