/** Roles, scopes and groups given to several users, or taken away from them. */
import { useState } from 'preact/hooks';
import type { Schemas } from '../../api.ts';
import { ChooseMany, ChooseOne } from '../../components/choices.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { counted } from '../../components/words.ts';
import { type Access, HELD_KINDS, type HeldKind } from './access.ts';
import { changeGrants, type GrantsChange, type UserResult } from './changes.ts';

interface GrantsDialogProps {
  readonly applicationId: string;
  readonly userIds: readonly string[];
  readonly access: Access;
  readonly onDone: (results: readonly UserResult[], done: string) => void;
  readonly onClose: () => void;
}

type Side = 'add' | 'remove';
type Chosen = Record<HeldKind, string[]>;

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
    HELD_KINDS.filter(({ kind }) => chosen[kind].length > 0).map(({ kind }) => [kind, { [side]: chosen[kind] }]),
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
          {HELD_KINDS.map(({ kind, title }) => (
            <ChooseMany
              key={kind}
              id={`grants-${kind}`}
              label={title}
              choices={access[kind].map(choiceOf)}
              chosen={chosen[kind]}
              none={`This application has no ${title.toLowerCase()}.`}
              onChange={(slugs) => setChosen({ ...chosen, [kind]: slugs })}
            />
          ))}
        </>
      )}
    </FormDialog>
  );
}

/** A role, scope or group as it is chosen: what it is called, and its slug where that says something else. */
export function choiceOf({ slug, name }: Pick<Schemas['Grant'], 'slug' | 'name'>) {
  const label = (
    <span>
      <span dir="auto">{name}</span> {name !== slug && <code class="muted">{slug}</code>}
    </span>
  );
  return { value: slug, label };
}
