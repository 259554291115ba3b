/** Code input: one field drawn as six slots, for typing, pasting and autofill. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { CODE_LENGTH, codeDigits, extractCode } from '../browser/code.ts';
import { FieldError } from './field.tsx';
import { useTexts } from './texts.tsx';

export interface CodeFieldProps {
  /** Defaults to the label of the sign-in code. */
  readonly label?: string;
  readonly value: string;
  readonly error: string | null;
  readonly isReadOnly?: boolean;
  /** Focuses the field when it changes: on first display and after each wrong code. */
  readonly focusKey?: unknown;
  onDigits(digits: string): void;
  onComplete(code: string): void;
}

const SLOTS = Array.from({ length: CODE_LENGTH }, (_, slot) => slot);

export function CodeField(props: CodeFieldProps) {
  const { label, value, error, isReadOnly = false, focusKey, onDigits, onComplete } = props;
  const text = useTexts();
  const input = useRef<HTMLInputElement>(null);
  const [selection, setSelection] = useState<readonly [number, number] | null>(null);
  useLayoutEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, [focusKey]);
  useEffect(() => {
    document.addEventListener('selectionchange', follow);
    return () => document.removeEventListener('selectionchange', follow);
  }, []);
  useLayoutEffect(follow, [value]);

  /** Draws the cursor where the browser has it. */
  function follow(): void {
    const field = input.current;
    const isFocused = field !== null && document.activeElement === field;
    setSelection(isFocused ? [field.selectionStart ?? 0, field.selectionEnd ?? 0] : null);
  }

  function take(digits: string): void {
    onDigits(digits);
    if (digits.length === CODE_LENGTH) onComplete(digits);
  }

  function takePasted(event: ClipboardEvent): void {
    // Read from the clipboard, because a pasted sentence may exceed the field's maximum length.
    const digits = extractCode(event.clipboardData?.getData('text') ?? '');
    if (!digits || isReadOnly) return;
    event.preventDefault();
    take(digits);
  }

  return (
    <div class="field">
      <label for="code">{label ?? text('signin.codeLabel')}</label>
      <div class="code-field" data-invalid={error ? '' : undefined}>
        <input
          id="code"
          name="code"
          type="text"
          ref={input}
          value={value}
          readOnly={isReadOnly}
          autocomplete="one-time-code"
          inputMode="numeric"
          autoCapitalize="none"
          autoCorrect="off"
          spellcheck={false}
          maxLength={64}
          required
          aria-describedby="lead code-error"
          aria-invalid={error ? 'true' : undefined}
          onFocus={follow}
          onBlur={() => setSelection(null)}
          onInput={(event) => {
            if (isReadOnly || event.isComposing) return;
            const field = event.currentTarget;
            const digits = codeDigits(field.value);
            if (digits !== field.value) {
              const cursor = codeDigits(field.value.slice(0, field.selectionStart ?? 0)).length;
              field.value = digits;
              field.setSelectionRange(cursor, cursor);
            }
            take(digits);
          }}
          onPaste={takePasted}
        />
        <div class="slots" aria-hidden="true">
          {SLOTS.map((slot) => (
            <span
              key={slot}
              class="slot"
              data-next={selection && slot === Math.min(selection[0], CODE_LENGTH - 1) ? '' : undefined}
              data-selected={selection && slot >= selection[0] && slot < selection[1] ? '' : undefined}
            >
              {value[slot] ?? ''}
            </span>
          ))}
        </div>
      </div>
      <FieldError id="code" error={error} />
    </div>
  );
}
