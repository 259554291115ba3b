import type { Schemas } from '../../api.ts';
import type { FormField } from '../../components/form-fields.tsx';
import { type Access, HELD_KINDS, type HeldKind } from './access.ts';

export type Chosen = Record<HeldKind, string[]>;

export function accessFields(idPrefix: string, access: Access): FormField<Chosen>[] {
  return HELD_KINDS.map(({ kind, title }) => ({
    kind: 'choices',
    id: `${idPrefix}-${kind}`,
    name: kind,
    label: title,
    choices: access[kind].map(choiceOf),
    none: `This application has no ${title.toLowerCase()}.`,
  }));
}

function choiceOf({ slug, name }: Pick<Schemas['Grant'], 'slug' | 'name'>) {
  const label = (
    <span>
      <span dir="auto">{name}</span> {name !== slug && <code class="muted">{slug}</code>}
    </span>
  );
  return { value: slug, label };
}
