/** Adds or removes roles, scopes and groups of several users. */
import { FormDialog } from '../../components/form-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import { counted } from '../../components/format.ts';
import { type Access, HELD_KINDS } from '../grants/access.ts';
import { accessFields, type Chosen } from '../grants/access-fields.tsx';
import { changeGrants, type GrantsChange, type UserResult } from './changes.ts';

interface GrantsDialogProps {
  readonly applicationId: string;
  readonly userIds: readonly string[];
  readonly access: Access;
  readonly onDone: (results: readonly UserResult[]) => unknown;
}

const DIRECTIONS = [
  { value: 'add', label: 'Give', detail: 'People who already have it keep it.' },
  { value: 'remove', label: 'Take away', detail: 'At once: the next verification shows it.' },
] as const;

interface Values extends Chosen {
  readonly direction: 'add' | 'remove';
}

export function GrantsDialog({ applicationId, userIds, access, onDone }: GrantsDialogProps) {
  const form = useForm<Values>({ direction: 'add', roles: [], scopes: [], memberships: [] });
  const { direction } = form.values;
  const changed = HELD_KINDS.filter(({ kind }) => form.values[kind].length > 0);
  const amount = changed.reduce((sum, { kind }) => sum + form.values[kind].length, 0);
  const change: GrantsChange = Object.fromEntries(
    changed.map(({ kind }) => [kind, { [direction]: form.values[kind] }]),
  );
  const whom = counted(userIds.length, 'person', 'people');
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
      send={() => changeGrants(applicationId, userIds, change)}
      onDone={onDone}
    />
  );
}
