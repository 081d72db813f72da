"""The plugins that come with smtplugins, a folder each, loaded through entry points like any other."""
