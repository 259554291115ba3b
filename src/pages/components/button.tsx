/** Buttons and links styled as buttons. A busy button shows its state and ignores presses. */
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';

type Look = 'primary' | 'plain' | 'quiet' | 'small' | 'danger';

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'type' | 'icon'> {
  readonly look?: Look;
  readonly type?: 'button' | 'submit';
  /** Text while busy; set only then. */
  readonly busyText?: string | false;
  readonly icon?: ComponentChildren;
}

export function Button({ look = 'primary', type = 'button', busyText = false, icon, children, ...rest }: ButtonProps) {
  const isBusy = busyText !== false;
  return (
    <button {...rest} class={`button ${look}`} type={type} aria-busy={isBusy ? 'true' : undefined}>
      {icon}
      <span>{isBusy ? busyText : children}</span>
    </button>
  );
}

interface LinkButtonProps {
  readonly href: string;
  readonly look?: Look;
  readonly id?: string;
  readonly icon?: ComponentChildren;
  readonly onClick?: (event: MouseEvent) => void;
  readonly children: ComponentChildren;
}

export function LinkButton({ look = 'primary', icon, children, ...rest }: LinkButtonProps) {
  return (
    <a {...rest} class={`button ${look}`}>
      {icon}
      <span>{children}</span>
    </a>
  );
}
