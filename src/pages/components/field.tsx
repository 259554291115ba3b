/** A field with its label above and what is wrong with it below; the error is read out when it comes. */
import type { ComponentChildren, HTMLAttributes, Ref } from 'preact';

type Handlers = Pick<HTMLAttributes<HTMLInputElement>, 'onInput' | 'onBlur' | 'onKeyDown'>;

/** What a field of ours sets of the element's own. */
interface InputProps extends Handlers {
  readonly class?: string;
  readonly type?: 'text' | 'email' | 'tel';
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
  /** The element itself, {@link describedBy} what stands below it. */
  readonly children: ComponentChildren;
}

/** What every field has around the element that takes what is given. */
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

/** The ids of what is read out with the element. */
export function describedBy(id: string, hint: ComponentChildren): string {
  return `${id}-error${hint ? ` ${id}-hint` : ''}`;
}

/** Stays on the page while empty, so that screen readers hear it change. */
export function FieldError({ id, error }: { id: string; error: string | null }) {
  return (
    <p class="field-error" id={`${id}-error`} role="alert">
      {error}
    </p>
  );
}

/** The field for an e-mail address, as every page that asks for one shows it. */
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
