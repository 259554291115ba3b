import { useTexts } from './texts.tsx';

export function ResendLink({ onResend }: { onResend(): void }) {
  const text = useTexts();
  return (
    <p class="hint">
      <button class="link" type="button" onClick={onResend}>
        {text('signin.resend')}
      </button>
    </p>
  );
}
