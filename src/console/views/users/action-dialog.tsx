/** Confirms banning, pausing, deleting or restoring users, with the consequences and a reason. */
import type { Failure, Outcome } from '../../api.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import type { FormField } from '../../components/form-fields.tsx';
import { useForm } from '../../components/use-form.ts';
import { counted } from '../../components/format.ts';
import { changeStatuses, type UserResult } from './changes.ts';
import { ACTIONS, STATUSES, type User, type UserAction } from './statuses.ts';

export const REASON_FIELD: FormField<{ reason: string }> = {
  kind: 'text',
  id: 'user-action-reason',
  name: 'reason',
  label: 'Reason',
  maxLength: 500,
  hint: 'Kept with the person, in the activity and in the events sent to webhooks.',
};

type Concerned = Pick<User, 'userId' | 'email' | 'status'>;

interface ActionDialogProps {
  readonly applicationId: string;
  readonly action: UserAction;
  readonly users: readonly Concerned[];
  readonly onDone: (results: readonly UserResult[]) => unknown;
}

export function ActionDialog({ applicationId, action, users, onDone }: ActionDialogProps) {
  const form = useForm({ reason: '' });
  const { verb, isDanger } = ACTIONS[action];
  const [only] = users.length === 1 ? users : [];
  const whom = only ? only.email : counted(users.length, 'person', 'people');

  async function send(): Promise<Outcome<UserResult[]>> {
    const ids = users.map(({ userId }) => userId);
    const outcome = await changeStatuses(applicationId, ids, action, form.values.reason);
    const [first] = outcome.ok ? outcome.data : [];
    // For a single user the dialog shows the refusal itself.
    return only && first?.outcome === 'refused' ? refusal(first.message ?? 'It was refused.') : outcome;
  }

  return (
    <FormDialog
      id="user-action"
      title={`${verb} ${whom}?`}
      lead={<Effect action={action} users={users} />}
      submitText={`${verb} ${only ? 'user' : whom}`}
      isDanger={isDanger}
      form={form}
      fields={[REASON_FIELD]}
      send={send}
      onDone={onDone}
    />
  );
}

interface EffectProps {
  readonly action: UserAction;
  readonly users: readonly Concerned[];
}

function Effect({ action, users }: EffectProps) {
  const { from, to, done, effect } = ACTIONS[action];
  const isOne = users.length === 1;
  const affected = users.filter(({ status }) => from.includes(status)).length;
  const already = users.filter(({ status }) => status === to).length;
  const refused = users.length - affected - already;
  const are = (amount: number) => (amount === 1 ? 'is' : 'are');
  return (
    <>
      {!isOne && (
        <>
          {counted(affected, 'person', 'people')} will be {done}.
          {already > 0 &&
            ` ${already} ${are(already)} ${STATUSES[to].word.toLowerCase()} already and ${already === 1 ? 'stays' : 'stay'} so.`}
          {refused > 0 &&
            ` ${refused} ${are(refused)} in a state that does not allow it and ${refused === 1 ? 'stays' : 'stay'} as it is.`}{' '}
        </>
      )}
      {effect}
    </>
  );
}

const refusal = (message: string): Failure => ({ ok: false, status: 409, code: 'refused', message, fields: [] });
