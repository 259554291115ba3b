/** Adds or removes roles, scopes and groups of several users. */
import { useState } from 'preact/hooks';
import { ChooseOne } from '../../components/choices.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { counted } from '../../components/words.ts';
import { type Access, HELD_KINDS } from '../grants/access.ts';
import { AccessChoices, type Chosen } from '../grants/access-choices.tsx';
import { changeGrants, type GrantsChange, type UserResult } from './changes.ts';

interface GrantsDialogProps {
  readonly applicationId: string;
  readonly userIds: readonly string[];
  readonly access: Access;
  readonly onDone: (results: readonly UserResult[], done: string) => void;
  readonly onClose: () => void;
}

type Side = 'add' | 'remove';

const SIDES = [
  { value: 'add', label: 'Give', detail: 'Who has it already keeps it.' },
  { value: 'remove', label: 'Take away', detail: 'At once: the next verification shows it.' },
] as const;

export function GrantsDialog({ applicationId, userIds, access, onDone, onClose }: GrantsDialogProps) {
  const [side, setSide] = useState<Side>('add');
  const [chosen, setChosen] = useState<Chosen>({ roles: [], scopes: [], memberships: [] });
  const whom = counted(userIds.length, 'person', 'people');
  const amount = chosen.roles.length + chosen.scopes.length + chosen.memberships.length;
  const change: GrantsChange = Object.fromEntries(
    HELD_KINDS.filter(({ kind }) => chosen[kind].length > 0).map(({ kind }) => [kind, { [side]: [...chosen[kind]] }]),
  );
  const verb = side === 'add' ? 'Give' : 'Take';
  const ending = side === 'add' ? `to ${whom}` : `from ${whom}`;
  return (
    <FormDialog<UserResult[]>
      id="user-grants"
      title={`Change the access of ${whom}`}
      submitText={amount === 0 ? `${verb} ${ending}` : `${verb} ${amount} ${ending}`}
      isDanger={side === 'remove'}
      isIncomplete={amount === 0}
      send={() => changeGrants(applicationId, userIds, change)}
      onDone={(results) => onDone(results, 'changed')}
      onClose={onClose}
    >
      {() => (
        <>
          <ChooseOne id="grants-side" label="What to do" choices={SIDES} chosen={side} onChange={setSide} />
          <AccessChoices id="grants" access={access} chosen={chosen} onChange={setChosen} />
        </>
      )}
    </FormDialog>
  );
}
