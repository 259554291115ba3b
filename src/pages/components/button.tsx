/** Buttons and links styled as buttons. A busy button shows its state and ignores presses. */
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';

type Look = 'primary' | 'plain' | 'quiet' | 'small' | 'danger';

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'type' | 'icon' | 'aria-busy'> {
  readonly look?: Look;
  readonly type?: 'button' | 'submit';
  /** Text while busy; set only then. */
  readonly busyText?: string | false;
  /** For a button that keeps its text while busy. */
  readonly isBusy?: boolean;
  readonly icon?: ComponentChildren;
}

export function Button({
  look = 'primary',
  type = 'button',
  busyText = false,
  isBusy = busyText !== false,
  icon,
  children,
  ...rest
}: ButtonProps) {
  return (
    <button {...rest} class={`button ${look}`} type={type} aria-busy={isBusy ? 'true' : undefined}>
      {icon}
      <span>{busyText === false ? children : busyText}</span>
    </button>
  );
}

interface LinkButtonProps {
  readonly href: string;
  readonly look?: Look;
  readonly id?: string;
  readonly icon?: ComponentChildren;
  readonly isNewTab?: boolean;
  readonly onClick?: (event: MouseEvent) => void;
  readonly children: ComponentChildren;
}

export function LinkButton({ look = 'primary', icon, isNewTab = false, children, ...rest }: LinkButtonProps) {
  return (
    <a {...rest} class={`button ${look}`} {...(isNewTab && { target: '_blank', rel: 'noreferrer' })}>
      {icon}
      <span>{children}</span>
    </a>
  );
}
