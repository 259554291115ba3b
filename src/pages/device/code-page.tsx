/** Page that takes a device's user code (RFC 8628 §3.3). */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Locale } from '../../core/locale.ts';
import { formatUserCode, normalizeUserCode } from '../../core/user-code.ts';
import { typedBefore } from '../browser/typed-address.ts';
import { Button } from '../components/button.tsx';
import { Field } from '../components/field.tsx';
import { Frame } from '../components/frame.tsx';
import { ProductMark } from '../components/application-mark.tsx';
import { useTexts } from '../components/texts.tsx';

export interface DeviceCodePageProps {
  readonly locale: Locale;
  /** Invalid code that was given, as it should appear in the field; null if none was. */
  readonly wrongCode: string | null;
}

export function DeviceCodePage({ locale, wrongCode }: DeviceCodePageProps) {
  const text = useTexts();
  const input = useRef<HTMLInputElement>(null);
  const [code, setCode] = useState(() => typedBefore('user-code') ?? wrongCode ?? '');
  const [error, setError] = useState(wrongCode === null ? null : text('device.codeUnknown'));
  useLayoutEffect(() => {
    input.current?.focus();
    if (error) input.current?.select();
  }, [error]);

  function submit(): void {
    const userCode = normalizeUserCode(input.current?.value ?? code);
    if (!userCode) return setError(text('device.codeIncomplete'));
    const address = new URL(location.href);
    address.searchParams.set('code', formatUserCode(userCode));
    address.hash = '';
    location.assign(address);
  }

  /** Formats only at the end of the field, so that the cursor does not jump. */
  function take(field: HTMLInputElement, event: InputEvent): void {
    const isAtEnd = field.selectionStart === field.value.length;
    const isTyped = !event.isComposing && !event.inputType.startsWith('delete');
    if (isAtEnd && isTyped) field.value = formatUserCode(field.value);
    setCode(field.value);
  }

  return (
    <Frame brand={<ProductMark />} locale={locale} scriptNeeded={text('device.scriptNeeded')}>
      <section class="step">
        <h1>{text('device.title')}</h1>
        <p class="lead" id="lead">
          {text('device.lead')}
        </p>
        <form
          id="device-form"
          method="post"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <Field
            class="user-code"
            id="user-code"
            name="code"
            type="text"
            label={text('device.codeLabel')}
            value={code}
            error={error}
            placeholder="XXXX-XXXX"
            autocomplete="off"
            autoCapitalize="characters"
            autoCorrect="off"
            spellcheck={false}
            maxLength={32}
            required
            autoFocus
            inputRef={input}
            onInput={(event) => take(event.currentTarget, event as unknown as InputEvent)}
          />
          <Button id="device-submit" type="submit">
            {text('device.continue')}
          </Button>
        </form>
      </section>
    </Frame>
  );
}
