/** Input with a label and an error that screen readers announce. */
import type { ComponentChildren, HTMLAttributes, Ref } from 'preact';

type Handlers = Pick<HTMLAttributes<HTMLInputElement>, 'onInput' | 'onBlur' | 'onKeyDown'>;

interface InputProps extends Handlers {
  readonly class?: string;
  readonly type?: 'text' | 'email' | 'tel' | 'password';
  readonly value?: string;
  readonly placeholder?: string;
  readonly autocomplete?: string;
  readonly inputMode?: 'email' | 'numeric' | 'text';
  readonly autoCapitalize?: 'none' | 'characters';
  readonly autoCorrect?: 'off';
  readonly spellcheck?: boolean;
  readonly maxLength?: number;
  readonly required?: boolean;
  readonly readOnly?: boolean;
  readonly autoFocus?: boolean;
}

interface FieldProps extends InputProps {
  readonly id: string;
  readonly name?: string;
  readonly label: ComponentChildren;
  readonly error?: string | null;
  readonly hint?: ComponentChildren;
  readonly inputRef?: Ref<HTMLInputElement>;
}

export function Field({ id, label, error = null, hint, inputRef, name, ...input }: FieldProps) {
  return (
    <FieldFrame {...{ id, label, hint, error }}>
      <input
        {...(input as object)}
        id={id}
        name={name ?? id}
        ref={inputRef}
        aria-describedby={describedBy(id, hint)}
        aria-invalid={error ? 'true' : undefined}
      />
    </FieldFrame>
  );
}

interface FieldFrameProps {
  readonly id: string;
  readonly label: ComponentChildren;
  readonly hint: ComponentChildren;
  readonly error: string | null;
  /** The element, with {@link describedBy} as its description. */
  readonly children: ComponentChildren;
}

export function FieldFrame({ id, label, hint, error, children }: FieldFrameProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <FieldError id={id} error={error} />
    </div>
  );
}

export function describedBy(id: string, hint: ComponentChildren): string {
  return `${id}-error${hint ? ` ${id}-hint` : ''}`;
}

/** Rendered even when empty, so that screen readers announce changes. */
export function FieldError({ id, error }: { id: string; error: string | null }) {
  return (
    <p class="field-error" id={`${id}-error`} role="alert">
      {error}
    </p>
  );
}

/** E-mail field with the same attributes on every page. */
export function EmailField(props: Omit<FieldProps, 'type'>) {
  return (
    <Field
      type="email"
      inputMode="email"
      autoCapitalize="none"
      autoCorrect="off"
      spellcheck={false}
      maxLength={254}
      required
      {...props}
    />
  );
}
