/** State of a settings form: saved values, changes and validation errors. */
import { useState } from 'preact/hooks';
import { useToast } from '../../../pages/components/toast.tsx';
import type { Failure, Outcome } from '../../api.ts';
import { type FieldErrors, fieldErrors } from '../../components/field-errors.ts';
import type { Form } from '../../components/use-form.ts';
import { useUnsaved } from './unsaved.ts';

export interface Draft<Values extends object> extends Form<Values>, FieldErrors {
  readonly isChanged: boolean;
  readonly isSaving: boolean;
  discard(): void;
  save(): Promise<void>;
}

/**
 * @param kept saved values; unchanged fields follow them.
 * @param send sends only the differences; resolves when `kept` is updated.
 */
export function useDraft<Values extends object>(
  kept: Values,
  send: (changed: Partial<Values>) => Promise<Outcome<unknown>>,
): Draft<Values> {
  const toast = useToast();
  const [changes, setChanges] = useState<Partial<Values>>({});
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSaving, setIsSaving] = useState(false);
  const changed = Object.fromEntries(
    Object.entries(changes).filter(([name, value]) => !isSame(value, kept[name as keyof Values])),
  ) as Partial<Values>;
  const isChanged = Object.keys(changed).length > 0;
  useUnsaved(isChanged);

  return {
    values: { ...kept, ...changes },
    isChanged,
    isSaving,
    set: (more) => setChanges((before) => ({ ...before, ...more })),
    discard() {
      setChanges({});
      setFailure(null);
    },
    async save() {
      if (isSaving || !isChanged) return;
      setIsSaving(true);
      setFailure(null);
      const outcome = await send(changed);
      setIsSaving(false);
      if (!outcome.ok) return setFailure(outcome);
      setChanges({});
      toast('Saved.');
    },
    ...fieldErrors(failure),
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
