"""What the pages share: markup that cannot be left unescaped, one document, one look."""
