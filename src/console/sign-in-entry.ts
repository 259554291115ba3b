/** The script of the console's sign-in. */
import { takeUp } from '../pages/browser/take-up.tsx';
import { ConsoleSignInPage } from './sign-in-page.tsx';

takeUp(ConsoleSignInPage);
