"""Two arms compared: template counts to findings, and the noise they are held against; pure."""
