/** State of a settings form: saved values, changes and validation errors. */
import { useState } from 'preact/hooks';
import { useToast } from '../../../pages/components/toast.tsx';
import type { Failure, Outcome } from '../../api.ts';
import { refusals } from '../../components/refusals.ts';
import { useUnsaved } from './unsaved.ts';

export interface Draft<Values extends object> {
  readonly values: Values;
  readonly isChanged: boolean;
  readonly isSaving: boolean;
  set(changes: Partial<Values>): void;
  discard(): void;
  save(): Promise<void>;
  /** Returns the error of a field, by its path in the body. */
  errorOf(path: string): string | null;
  /** Returns an error that belongs to no field; call after all `errorOf` calls. */
  elsewhere(): string | null;
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
    ...refusals(failure),
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
