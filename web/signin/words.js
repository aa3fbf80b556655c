// Everything the sign-in page says.

const en = {
  title: 'Sign in',
  submit: 'Sign in',
  submitting: 'Signing in…',
  newHere: 'New here?',
  toSignUp: 'Sign up',
  'reason.invalid_credentials': 'E-mail and password do not match. Please try again.',
};

const ko = {
  title: '로그인',
  submit: '로그인',
  submitting: '로그인하는 중…',
  newHere: '처음 오셨나요?',
  toSignUp: '회원가입',
  'reason.invalid_credentials': '이메일 또는 비밀번호가 맞지 않습니다. 다시 시도해 주세요.',
};

export const words = { en, ko };
