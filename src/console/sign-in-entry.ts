/** Entry script of the console's sign-in page. */
import { takeUp } from '../pages/browser/take-up.tsx';
import { ConsoleSignInPage } from './sign-in-page.tsx';

takeUp(ConsoleSignInPage);
