import type { ComponentChildren } from 'preact';
import { describedBy, FieldFrame } from '../../pages/components/field.tsx';

interface TextAreaProps {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly rows?: number;
  readonly placeholder?: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | null;
  readonly isDisabled?: boolean;
  readonly onInput: (value: string) => void;
}

export function TextArea({
  id,
  label,
  value,
  rows = 4,
  placeholder,
  hint,
  error = null,
  isDisabled,
  onInput,
}: TextAreaProps) {
  return (
    <FieldFrame {...{ id, label, hint, error }}>
      <textarea
        id={id}
        name={id}
        rows={rows}
        value={value}
        placeholder={placeholder}
        disabled={isDisabled}
        spellcheck={false}
        aria-describedby={describedBy(id, hint)}
        aria-invalid={error ? 'true' : undefined}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </FieldFrame>
  );
}
