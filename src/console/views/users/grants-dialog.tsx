/** Adds or removes roles, scopes and groups of several users. */
import type { Outcome } from '../../api.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import { counted } from '../../components/format.ts';
import { type Access, HELD_KINDS } from '../grants/access.ts';
import { accessFields, type Chosen } from '../grants/access-fields.tsx';
import type { GrantsChange } from './changes.ts';

interface GrantsDialogProps<Data> {
  readonly count: number;
  readonly access: Access;
  readonly send: (change: GrantsChange) => Promise<Outcome<Data>>;
  readonly onDone: (data: Data, change: GrantsChange) => unknown;
}

const DIRECTIONS = [
  { value: 'add', label: 'Give', detail: 'People who already have it keep it.' },
  { value: 'remove', label: 'Take away', detail: 'At once: the next verification shows it.' },
] as const;

interface Values extends Chosen {
  readonly direction: 'add' | 'remove';
}

export function GrantsDialog<Data>({ count, access, send, onDone }: GrantsDialogProps<Data>) {
  const form = useForm<Values>({ direction: 'add', roles: [], scopes: [], memberships: [] });
  const { direction } = form.values;
  const changed = HELD_KINDS.filter(({ kind }) => form.values[kind].length > 0);
  const amount = changed.reduce((sum, { kind }) => sum + form.values[kind].length, 0);
  const change: GrantsChange = Object.fromEntries(
    changed.map(({ kind }) => [kind, { [direction]: form.values[kind] }]),
  );
  const whom = counted(count, 'person', 'people');
  const verb = direction === 'add' ? 'Give' : 'Take';
  const ending = direction === 'add' ? `to ${whom}` : `from ${whom}`;
  return (
    <FormDialog
      id="user-grants"
      title={`Change the access of ${whom}`}
      submitText={amount === 0 ? `${verb} ${ending}` : `${verb} ${amount} ${ending}`}
      isDanger={direction === 'remove'}
      isIncomplete={amount === 0}
      form={form}
      fields={[
        { kind: 'choice', id: 'grants-side', name: 'direction', label: 'What to do', choices: DIRECTIONS },
        ...accessFields('grants', access),
      ]}
      send={() => send(change)}
      onDone={(data) => onDone(data, change)}
    />
  );
}
