"""Background work is a row: submit, perform, resend, recover."""
