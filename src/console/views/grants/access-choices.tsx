/** Choice of roles, scopes and groups. */
import type { Schemas } from '../../api.ts';
import { ChooseMany } from '../../components/choices.tsx';
import { type Access, HELD_KINDS, type HeldKind } from './access.ts';

export type Chosen = Record<HeldKind, readonly string[]>;

interface AccessChoicesProps {
  readonly id: string;
  readonly access: Access;
  readonly chosen: Chosen;
  readonly onChange: (chosen: Chosen) => void;
}

export function AccessChoices({ id, access, chosen, onChange }: AccessChoicesProps) {
  return (
    <>
      {HELD_KINDS.map(({ kind, title }) => (
        <ChooseMany
          key={kind}
          id={`${id}-${kind}`}
          label={title}
          choices={access[kind].map(choiceOf)}
          chosen={chosen[kind]}
          none={`This application has no ${title.toLowerCase()}.`}
          onChange={(slugs) => onChange({ ...chosen, [kind]: slugs })}
        />
      ))}
    </>
  );
}

function choiceOf({ slug, name }: Pick<Schemas['Grant'], 'slug' | 'name'>) {
  const label = (
    <span>
      <span dir="auto">{name}</span> {name !== slug && <code class="muted">{slug}</code>}
    </span>
  );
  return { value: slug, label };
}
